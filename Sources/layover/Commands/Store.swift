import ArgumentParser
import LayoverConfiguration
import LayoverEngine
import LayoverStore
import Logging

/// `layover store`
struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look after the store of tickets.", subcommands: [RotateKey.self])
}

/// `layover store rotate-key`: works alone, while the proxy is stopped.
struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key", abstract: "Make a new key and seal all secrets in the store with it.",
        discussion: """
            The proxy must be stopped. Broken off, it does no harm: the store opens with the old key and the new \
            one, and the next rotation finishes the work.
            """)

    @OptionGroup var source: ConfigurationOptions
    @Flag(help: "One JSON object.") var json = false

    func run() throws {
        var options = StoreOptions(try source.load().settings.store)
        // What there is to say is said below.
        options.logger.logLevel = .error
        do throws(StoreFailure) {
            let count = try SQLiteStore.rotateKey(options: options)
            StandardOutput.write(
                json
                    ? "{\"sealed\":\(count)}"
                    : "the key is new; \(count) requests and answers were sealed with it")
        } catch {
            // Somebody has it, and that is no fault of the configuration.
            let code: CommandFailure.Code = error.kind == .locked ? .refused : .usage
            throw CommandFailure(code: code, message: "store.path: \(error.message)")
        }
    }
}
