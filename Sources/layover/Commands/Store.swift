import ArgumentParser
import LayoverConfiguration
import LayoverEngine
import LayoverStore
import Logging

/// `layover store`
struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Maintain the ticket database.", subcommands: [RotateKey.self])
}

/// `layover store rotate-key`: works alone, while the proxy is stopped.
struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key", abstract: "Encrypt all stored secrets with a new key.",
        discussion: """
            The proxy must be stopped. An interrupted rotation is safe: the database opens with both the old and the new \
            key, and the next rotation completes it.
            """)

    @OptionGroup var source: ConfigurationOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        var options = StoreOptions(try source.load().settings.store)
        // What there is to say is said below.
        options.logger.logLevel = .error
        do throws(StoreFailure) {
            let count = try SQLiteStore.rotateKey(options: options)
            StandardOutput.write(
                json
                    ? "{\"sealed\":\(count)}"
                    : "key replaced; \(count) requests and responses encrypted again")
        } catch {
            // Somebody has it, and that is no fault of the configuration.
            let code: CommandFailure.Code = error.kind == .locked ? .refused : .usage
            throw CommandFailure(code: code, message: "store.path: \(error.message)")
        }
    }
}
