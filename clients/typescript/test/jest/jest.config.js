module.exports = { globalSetup: "kafkastub/setup" };
