/// A token: text that stands in a request for what is known only later.
///
///     ~uuid~
///     ~ticket.<id>.location~
///     ~ticket.<id>.field.<name>~
///     ~ticket.<id>.json.<key>.<key>…~
///
/// `<id>` is the id of a ticket, 32 hexadecimal digits in lower case. A name or key consists of ASCII letters,
/// digits and `-_!$'()*,;:@`; every other character is written percent-encoded in UTF-8 (`%2E` for a dot inside
/// a key, `%25`, `%7E`). A key that leads into an array is an index from 0.
package enum Token: Sendable, Hashable {
    /// A UUID that belongs to the request: the same wherever it stands in it, and for all attempts.
    case uuid
    /// A part of the response to another ticket, the parent.
    case ticket(id: String, Part)

    /// Which part of a parent's response.
    package enum Part: Sendable, Hashable {
        /// The URL of its Location field, made absolute.
        case location
        /// The value of a field. The name is in lower case.
        case field(String)
        /// The string, number or boolean that the keys lead to in its JSON body. Never empty.
        case json([String])
    }

    /// The id of the parent; nil for `uuid`.
    package var parent: String? {
        switch self {
        case .uuid: nil
        case .ticket(let id, _): id
        }
    }
}
