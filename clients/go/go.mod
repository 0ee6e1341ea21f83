module github.com/kafkastub/kafkastub-go

go 1.26
