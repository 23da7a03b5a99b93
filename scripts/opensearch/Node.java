import static org.codelibs.opensearch.runner.OpenSearchRunner.newConfigs;

import org.codelibs.opensearch.runner.OpenSearchRunner;

/**
 * One OpenSearch node with k-NN on the loopback, without TLS and passwords. Arguments: data folder, HTTP port.
 * It stops when its standard input ends, and so with whoever started it.
 */
public class Node {
  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[1]);
    OpenSearchRunner runner = new OpenSearchRunner();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        runner.close();
      } catch (Exception e) {
        System.err.println("the node did not close in order: " + e.getClass().getSimpleName());
      }
    }));
    runner.setMaxHttpPort(-1); // take the port as it is named; by itself the runner knows none above 9299
    runner.onBuild((number, settings) -> {
      settings.put("network.host", "127.0.0.1");
      settings.put("discovery.type", "single-node");
      settings.put("transport.port", "0");
      settings.put("action.auto_create_index", false);
      settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
      settings.put("knn.memory.circuit_breaker.enabled", false);
    }).build(newConfigs().basePath(args[0]).numOfNode(1)
        .baseHttpPort(port - 1) // node 1 listens on base + 1
        .clusterName("incognote").pluginTypes("org.opensearch.knn.plugin.KNNPlugin").useLogger());
    System.out.println("READY " + port); // HTTP answers; an index may still be recovering
    System.out.flush();
    while (System.in.read() >= 0) {
      // until whoever started this closes the pipe, or dies
    }
    System.exit(0);
  }
}
