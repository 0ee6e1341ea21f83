"""What the group types with epochs share: consumer, share and streams groups. A type's package has its differences.

    here         what every type has                                  what a type adds in its module of that name
    -----------  ---------------------------------------------------  ------------------------------------------------
    records      five records, and which tombstones end what          their names and their own fields: `TYPES`
    codec        records as bytes of `__consumer_offsets`             the fields that are others there: `CODEC`
    typed_state  what the records leave, by their keys (beside this)  its own parts, what they weigh: `STATE` in `state`
    member       how one comes out of its records, and into them      its own fields, and which differ there: `FORMS`
    group        members, epochs, target; the records made true       states, subscriptions, who may commit
    reconciling  static members, who has all of the target            (consumer and streams groups alone)
    context      the configuration, finding, making and writing       its assignor
    describe     the fields that every description has                its own fields
    targets      what members are to have, of topics they subscribe   (streams groups have tasks: `streams.targets`)
    groups       heartbeats, coming to life, topics that change       its requests
    membership   what members are asked that come, stay or go
    watching     members that leave, their deadlines                  how they are taken out, in `fencing`
    settings     the broker's part, and what a group says itself      its own

Beside these: the topics that groups need and their hash, those that members of consumer and share groups
subscribe to, and who computes targets. Kafka: the package modern.
"""
