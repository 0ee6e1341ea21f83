package shop;

import com.github.dockerjava.api.command.InspectContainerResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** The image of kafkastub with its control port. Take this file into your own tests. */
public class KafkaStubContainer extends GenericContainer<KafkaStubContainer> {
    private static final int KAFKA_PORT = 9092;
    private static final int CONTROL_PORT = 9090;

    public KafkaStubContainer(DockerImageName image) {
        super(image);
        withExposedPorts(KAFKA_PORT, CONTROL_PORT);
        withEnv("KAFKASTUB_CONTROL_PORT", String.valueOf(CONTROL_PORT));
        withEnv("KAFKASTUB_CONTROL_HOST", "0.0.0.0");
        withEnv("KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS", "0");
        waitingFor(Wait.forHttp("/health").forPort(CONTROL_PORT).forStatusCode(200));
    }

    /** @param topics NAME:PARTITIONS of each topic that is there from the start */
    public KafkaStubContainer withTopics(String... topics) {
        return withEnv("KAFKA_CREATE_TOPICS", String.join(",", topics));
    }

    /** HOST:PORT for clients on the host; those in its network come by its alias and port 19092. */
    public String getBootstrapServers() {
        return getHost() + ":" + getMappedPort(KAFKA_PORT);
    }

    /** Where the control port is asked. */
    public String getControlUrl() {
        return "http://" + getHost() + ":" + getMappedPort(CONTROL_PORT);
    }

    /** Clients on the host are told which port the engine has published. */
    @Override
    protected void containerIsStarted(InspectContainerResponse container, boolean reused) {
        String address = "{\"address\": \"HOST://" + getBootstrapServers() + "\"}";
        var request = HttpRequest.newBuilder(URI.create(getControlUrl() + "/v1/advertised"))
                .PUT(BodyPublishers.ofString(address))
                .version(HttpClient.Version.HTTP_1_1)
                .build();
        try {
            HttpResponse<String> response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new IllegalStateException("the advertised address was refused: " + response.body());
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the control port was asked", error);
        }
    }
}
