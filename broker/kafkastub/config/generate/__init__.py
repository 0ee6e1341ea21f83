"""The program that prints ``kafka_table.py`` from Apache Kafka's jars (``DumpConfigs.java``); not used at run time."""
