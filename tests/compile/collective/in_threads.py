"""Groups whose workers are threads of this process: quick, and their errors can be compared."""

import threading

from gradtape.compile.collective.address import Address, choose_ports
from gradtape.compile.collective.group import SocketWorkerGroup
from gradtape.compile.collective.rendezvous import Cluster, join_cluster

SECONDS = 60


def run_workers(size, function, worker_timeout=20.0, timeout=None):
    """Call `function(group)` in a thread for each worker; returns results or errors."""
    addresses = [Address("127.0.0.1", port) for port in choose_ports(size)]
    results = [None] * size
    barrier = threading.Barrier(size)

    def work(rank):
        cluster = Cluster(addresses, rank)
        try:
            group = SocketWorkerGroup(
                cluster, join_cluster(cluster, SECONDS), worker_timeout, timeout
            )
        except BaseException:
            barrier.abort()
            raise
        try:
            results[rank] = function(group)
        except Exception as error:
            results[rank] = error
            group.close("its test failed")
        finally:
            barrier.wait(SECONDS)
            group.close("the test is over")
            group.monitor.thread.join(SECONDS)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()
    return results
