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

            Example: layover store rotate-key
            """)

    @OptionGroup var source: ConfigurationOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        var options = StoreOptions(try source.load().settings.store)
        // Errors are printed below.
        options.logger.logLevel = .error
        do throws(StoreFailure) {
            let count = try SQLiteStore.rotateKey(options: options)
            StandardOutput.write(
                json
                    ? "{\"sealed\":\(count)}"
                    : "key replaced; \(count) requests and responses encrypted again")
        } catch {
            // Another process has it, which is no error of the configuration.
            let code: CommandFailure.Code = error.kind == .locked ? .refused : .usage
            throw CommandFailure(code: code, message: "store.path: \(error.message)")
        }
    }
}
