import Foundation
import HTTPTypes
import Testing

/// A whole response, with its body as JSON.
struct Answer {
    var status: Int
    var fields: HTTPFields
    var text: String

    /// The body as an object. Empty if it is none, so that whatever is expected of it fails.
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }

    var data: [[String: Any]] { json["data"] as? [[String: Any]] ?? [] }
    var ids: [String] { data.compactMap { $0["id"] as? String } }

    subscript(name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

    /// Checks the status.
    ///
    /// - Returns: The same answer.
    func expectStatus(_ status: Int, at location: SourceLocation = #_sourceLocation) -> Answer {
        #expect(self.status == status, "\(text)", sourceLocation: location)
        return self
    }
}
