"""A schema registry, without I/O: subjects with their versions, and what may follow on what.

    subjects      names of subjects and contexts
    entities      a schema as it is kept, with its references, metadata and rules; its id across registries
    records       the records of `_schemas`, as Confluent's registry writes them
    store         what the records say: it changes by records alone
    registry      what clients ask for; it writes records and reads the store
    settings      compatibility and mode, of a subject, a context and all
    types         the three types of schemas
    compatibility what is compared with what at which level
    avro, json_schema, protobuf   one package a type: parsing, canonical text, compatibility

The names and numbers are those of Confluent's REST interface. Nothing of it is loaded unless a registry is asked for.
"""
