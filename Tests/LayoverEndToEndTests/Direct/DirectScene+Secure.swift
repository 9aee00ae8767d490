import Foundation
import LayoverTestSupport

extension DirectScene {
    /// Scenes that matter most where TLS is ended in between; those without TLS in them are played by all ways.
    static let secure: [DirectScene] = [
        DirectScene(
            name: "response without a length that ends without close_notify",
            client: posting,
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\n\r\nall of it")
                connection.closeSilently()
            }, ways: [.tunnel, .interception, .secureTarget]),
        DirectScene(
            name: "response with a length that ends without close_notify",
            client: posting,
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.answer("all of it")
                connection.closeSilently()
            }, ways: [.tunnel, .interception, .secureTarget]),
        DirectScene(
            name: "chunked response with trailers",
            client: posting,
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n")
            }),
        DirectScene(
            name: "not modified",
            client: { client in
                client.send(client.head("GET", ["If-None-Match: \"a\""]))
                client.receiveResponse()
                client.send(client.head("GET", ["X-Number: 2"]))
                client.receiveResponse()
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n")
                guard connection.noteRequest(in: log) != nil else { return }
                connection.answer()
            }),
        DirectScene(
            name: "HEAD of a response with a length",
            client: { client in
                client.send(client.head("HEAD"))
                client.receiveResponse(toHead: true)
                client.send(client.head("GET"))
                client.receiveResponse()
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n")
                guard connection.noteRequest(in: log) != nil else { return }
                connection.answer()
            }),
        DirectScene(
            name: "long bodies both ways, both read slowly",
            client: { client in
                client.send(client.head("POST", [chunked]))
                for _ in 0..<3 { client.sendChunk(DirectBytes.first(long / 3)) }
                client.send("0\r\n\r\n")
                client.receiveResponse(slowly: true)
            },
            origin: { connection, log in
                guard let head = connection.readHead() else { return }
                connection.noteBody(of: head, in: log) { _ in DirectScene.pause(0.02) }
                connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(long)\r\n\r\n".utf8) + DirectBytes.first(long))
            }),
        DirectScene(
            name: "five requests one after the other",
            client: { client in
                for number in 1...5 {
                    client.send(client.head("POST", ["X-Number: \(number)", "Content-Length: 3"]) + "abc")
                    client.receiveResponse()
                }
            },
            origin: { connection, log in
                while connection.noteRequest(in: log) != nil { connection.answer() }
            }),
        DirectScene(
            name: "long response that a reset breaks off",
            client: posting,
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(2 * long)\r\n\r\n".utf8) + DirectBytes.first(100_000))
                // The head is to be read before the reset.
                log.clientHasHead.block()
                connection.reset()
            }),
    ]

    /// A POST, which is not repeated once it was sent, so that its response is seen as it comes.
    private static let posting: @Sendable (DirectClient) throws -> Void = { client in
        client.send(client.head("POST", ["Content-Length: 0"]))
        client.receiveResponse()
    }
}
