import HTTPTypes
import Hummingbird
import NIOCore

/// An error in a response (RFC 9457).
package struct AdminProblem: Error, Sendable {
    /// The last part of `type`.
    package var kind: String
    package var title: String
    package var status: Int
    package var detail: String
    /// Methods that the resource has, for 405.
    package var allowedMethods: [String] = []
    /// Everything that is wrong, where it is more than one thing.
    package var errors: [String] = []

    package init(_ status: Int, _ kind: String, title: String, detail: String) {
        self.status = status
        self.kind = kind
        self.title = title
        self.detail = detail
    }
}

/// A problem as JSON.
package struct ProblemDocument: Codable, Sendable {
    package var type: String
    package var title: String
    package var status: Int
    package var detail: String
    /// The path that was asked for.
    package var instance: String?
    package var kind: String?
    /// Everything that is wrong, where it is more than one thing.
    package var errors: [String]?
}

extension AdminProblem {
    /// - Parameter path: The path that was asked for, without its query; nil where none could be read.
    func response(path: String?) -> Response {
        var fields: HTTPFields = [.contentType: "application/problem+json"]
        if !allowedMethods.isEmpty { fields[.allow] = allowedMethods.joined(separator: ", ") }
        if status == 401 { fields[.wwwAuthenticate] = "Bearer realm=\"layover\"" }
        return Response(
            status: HTTPResponse.Status(code: status), headers: fields,
            body: ResponseBody(byteBuffer: bytes(path: path)))
    }

    /// The document. Encoding a few strings does not fail; if it did, the status alone would be sent.
    func bytes(path: String?) -> ByteBuffer {
        let document = ProblemDocument(
            type: "urn:layover:problem:\(kind)", title: title, status: status, detail: detail,
            instance: path, kind: kind, errors: errors.isEmpty ? nil : errors)
        return (try? JSONText.bytes(document)) ?? ByteBuffer()
    }
}
