/// Where a token stands. Decides how its text is read and how its value is written.
enum TokenPlace: Sendable, Hashable {
    case path
    case query
    /// The value of the field of that name.
    case field(String)
    /// A string of a JSON body, be it a value or the key of an object.
    case json
    /// A name or value of a form body.
    case form

    /// For sentences.
    var name: String {
        switch self {
        case .path, .query: "the request target"
        case .field(let name): "the field \(name)"
        case .json: "the JSON body"
        case .form: "the form body"
        }
    }
}
