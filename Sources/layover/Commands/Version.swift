import ArgumentParser
import LayoverAdmin

/// `layover version`
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the version.",
        discussion: "Example: layover version")

    func run() { StandardOutput.write("layover \(LayoverVersion.current)") }
}
