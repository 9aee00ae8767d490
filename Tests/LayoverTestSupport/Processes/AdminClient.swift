import Foundation

/// Speaks to the admin API of one running proxy. Its calls block; use them on a thread of their own.
package struct AdminClient: Sendable {
    package let port: Int
    package let namespace: String?

    package init(port: Int, namespace: String? = nil) {
        self.port = port
        self.namespace = namespace
    }

    package func call(
        _ method: String, _ path: String, json: String? = nil, token: String? = nil, fields: [String] = []
    ) throws -> PlainResponse {
        let connection = try RawConnection(port: port, namespace: namespace)
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        for field in fields { head += field + "\r\n" }
        if let token { head += "Authorization: Bearer \(token)\r\n" }
        if let json {
            head += "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n"
        }
        try connection.send(head + "\r\n" + (json ?? ""))
        return try PlainResponse(connection.receiveAll())
    }

    package func pending(_ query: String = "") throws -> PendingListing {
        let answer = try call("GET", "/v1/pending\(query)")
        guard answer.status == 200 else {
            throw ProcessError("The admin API answered \(answer.status): \(answer.text)")
        }
        return try JSONDecoder().decode(PendingListing.self, from: answer.body)
    }

    /// Opens the event stream; it is open, with its snapshot under way, when this returns.
    package func events() throws -> EventStream {
        try EventStream(port: port, namespace: namespace)
    }

    /// Waits until the pending set satisfies `condition`. Every event of the stream is a reason to look again.
    package func waitForPending(
        _ what: String, within limit: Duration, _ condition: (PendingListing) throws -> Bool
    ) throws -> PendingListing {
        let deadline = Deadline(in: limit)
        let events = try events()
        while true {
            let listing = try pending()
            if try condition(listing) { return listing }
            do {
                _ = try events.next(by: deadline)
            } catch {
                throw ProcessError("\(what): not within \(limit). Pending: \(listing)")
            }
        }
    }
}
