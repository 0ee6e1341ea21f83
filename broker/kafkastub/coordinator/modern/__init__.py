"""What the group types with epochs share: consumer, share and streams groups. A type's package has its differences.

    here         what every type has                                  what a type adds in its module of that name
    -----------  ---------------------------------------------------  ------------------------------------------------
    records      ten records, and which tombstones end what           their names and their own fields: `TYPES`
    state        what the records leave, by their keys                its own parts, what they weigh: `RECORDS`
    group        members, epochs, target; the records made true       states, subscriptions, who may commit
    reconciling  static members, who has all of the target            (consumer and streams groups alone)
    context      the configuration, finding, making and writing       its assignor
    groups       coming to life, looking at topics again, ending      its requests
    membership   what members are asked that come, stay or go
    watching     members that leave, their deadlines                  how they are taken out, in `fencing`

Beside these: settings, the topics that groups need and their hash, and who computes targets. Kafka: the package modern.
"""
