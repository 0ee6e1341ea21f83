package io.kafkastub.control;

import io.kafkastub.model.ConfigEntry;
import io.kafkastub.model.ConfigInfo;
import io.kafkastub.model.ConfigList;
import java.util.List;

/** Configurations; passwords are left out. */
public final class Configs {
    private final Port port;

    Configs(Port port) {
        this.port = port;
    }

    /** Return the broker's configuration. */
    public ConfigInfo all() {
        return port.call(Route.GET_CONFIG).as(ConfigInfo.class);
    }

    /** The broker's configuration value by value, with what each comes from. */
    public List<ConfigEntry> ofBroker() {
        return port.call(Route.GET_CONFIGS).as(ConfigList.class).configs();
    }

    /** The configuration of a topic value by value, with what each comes from. */
    public List<ConfigEntry> ofTopic(String topic) {
        return port.call(Route.GET_CONFIGS)
                .query("topic", topic)
                .as(ConfigList.class)
                .configs();
    }
}
