import LayoverAdmin

/// A command for a request, as a line.
enum CommandText {
    static func line(_ command: CommandDocument) -> String {
        "\(command.name) by \(command.who)" + (command.from.map { " from \($0)" } ?? "") + " at \(command.at)"
    }
}
