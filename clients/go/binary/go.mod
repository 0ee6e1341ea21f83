module github.com/kafkastub/kafkastub-go/binary

go 1.26

require github.com/kafkastub/kafkastub-go v1.0.0

replace github.com/kafkastub/kafkastub-go => ../
