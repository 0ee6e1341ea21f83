"""A proxy is closed while clients connect to it."""

from __future__ import annotations

import socket

from kafkastub import KafkaProxy, KafkaStub

ROUNDS = 12
"""Nearly every one of them hung, when one could."""


def test_closing_does_not_hang_while_clients_connect() -> None:
    with KafkaStub() as cluster:
        for _ in range(ROUNDS):
            proxy = KafkaProxy(to=cluster.bootstrap_servers)
            proxy.start()
            host, _, port = proxy.bootstrap_servers.rpartition(":")
            clients = []
            try:
                for _ in range(6):
                    client = socket.socket()
                    client.setblocking(False)
                    clients.append(client)
                    client.connect_ex((host, int(port)))
            finally:
                proxy.close()
                for client in clients:
                    client.close()
