/// A request of the tests of tickets, with the body that the recording origin knows by its id.
package struct DurableRequest: Sendable {
    package var id: String
    package var port: Int
    package var method: String
    package var fields: [String]
    package var bodyByteCount: Int

    package init(id: String, port: Int, method: String = "POST", fields: [String], bodyByteCount: Int = 100) {
        self.id = id
        self.port = port
        self.method = method
        self.fields = fields
        self.bodyByteCount = bodyByteCount
    }

    package var text: String {
        let line = "\(id)\n"
        let body = String(repeating: line, count: bodyByteCount / line.utf8.count + 1).prefix(bodyByteCount)
        let lines = [
            "\(method) http://127.0.0.1:\(port)/\(id) HTTP/1.1", "Host: 127.0.0.1:\(port)", "X-Id: \(id)",
            "Connection: close", "Content-Length: \(bodyByteCount)",
        ]
        return (lines + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}
