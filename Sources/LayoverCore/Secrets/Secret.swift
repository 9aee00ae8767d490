/// A token, key, password or credential. Whatever prints it shows `•••`: interpolation, `print`, `dump`, `Mirror`,
/// a log line, the message of a failed test.
///
/// So a struct that holds one can be printed as a whole and gives nothing away. There is no other way to the text than
/// `revealed`, whose uses can be listed: a secret is revealed where it is sent, compared or written to a file, and
/// nowhere else.
package struct Secret: Sendable, Hashable {
    /// The text itself. Keep it out of log lines, errors and stored values of other types.
    package let revealed: String

    package init(_ text: String) { revealed = text }

    /// What stands for every secret, whatever its length.
    package static let mask = "•••"
}

extension Secret: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }

    /// Without children: reflection must not find the text either.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
