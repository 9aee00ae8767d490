import ArgumentParser

/// The last arguments of a subcommand that runs another program: that program and its arguments, all of which are the
/// program's own.
///
/// The parser stops at the first unknown argument. An argument like `--help` or a misspelt option would be taken
/// for the program then, so a program whose name begins with a dash needs `--` before it, as in shells.
struct PassthroughCommand: ParsableArguments {
    @Argument(
        parsing: .captureForPassthrough,
        help: "The command and its arguments. Put -- before a command that begins with a dash.")
    var command: [String] = []

    /// Without the `--` before it.
    var words: [String] { command.first == "--" ? Array(command.dropFirst()) : command }

    /// - Parameter subcommand: Whose help is shown where help is asked for before the command.
    func check(for subcommand: any ParsableCommand.Type) throws {
        switch command.first {
        case "-h", "--help": throw CleanExit.helpRequest(subcommand)
        case "--": break
        case let word? where word.hasPrefix("-"):
            throw ValidationError("Unknown option '\(word)'. Put -- before a command that begins with a dash.")
        case _: break
        }
        guard !words.isEmpty else { throw ValidationError("Give a command after --.") }
    }
}
