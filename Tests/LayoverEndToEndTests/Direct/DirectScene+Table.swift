import Foundation
import LayoverTestSupport

// `client` says what is sent and when something is read; `origin` answers. Bodies are long where more than the buffers of the kernel is
// to be on its way.

extension DirectScene {
    static let all = plain + uploads + earlyResponses + refusals + brokenResponses + secure

    static let long = 3 << 20
    private static let length = "Content-Length: \(long)"
    static let chunked = "Transfer-Encoding: chunked"

    /// Reads each request to its end and answers it.
    private static func answering(
        _ body: String = "ok", status: String = "200 OK", fields: String = "", requests: Int = 1
    ) -> @Sendable (OriginConnection, DirectLog) -> Void {
        { connection, log in
            for _ in 0..<requests where connection.noteRequest(in: log) != nil {
                connection.answer(body, status: status, fields: fields)
            }
        }
    }

    // MARK: What is usual

    private static let plain: [DirectScene] = [
        DirectScene(
            name: "GET and HEAD on one connection",
            client: { client in
                client.send(client.head("GET", ["X-A: 1", "x-b: 2"]))
                client.receiveResponse()
                client.send(client.head("HEAD"))
                client.receiveResponse(toHead: true)
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.answer("ok", fields: "X-C: 3\r\nETag: \"a\"\r\n")
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
            }),
        DirectScene(
            name: "two requests at once (pipelining)",
            client: { client in
                client.send(client.head("GET", ["X-Number: 1"]) + client.head("GET", ["X-Number: 2"]))
                client.receiveResponse()
                client.receiveResponse()
            }, origin: answering(requests: 2)),
        DirectScene(
            name: "interim responses",
            client: { client in
                client.send(client.head("GET"))
                client.receiveResponse()
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n")
                connection.answer()
            }),
        DirectScene(
            name: "no content",
            client: { client in
                client.send(client.head("DELETE"))
                client.receiveResponse()
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }),
        DirectScene(
            name: "half-close behind the request",
            client: { client in
                client.send(client.head("POST", ["Content-Length: 3"]) + "abc")
                client.finishSending()
                client.receiveResponse()
            }, origin: answering()),
        DirectScene(
            name: "response that ends with the connection",
            client: { client in
                client.send(client.head("GET"))
                client.receiveResponse()
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + DirectBytes.first(long))
            }),
        DirectScene(
            name: "client of HTTP/1.0",
            client: { client in
                client.send(client.head("GET", version: "1.0"))
                client.receiveResponse()
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\n\r\nabc")
            },
            differences: [
                Difference(
                    direct: "origin: head GET /x HTTP/1.0 | Host: HOST", byLayover: "origin: head GET /x HTTP/1.1 | Host: HOST",
                    reason: "A proxy speaks its own version (RFC 9110 section 7.6.3).")
            ]),
        DirectScene(
            name: "long response to a client that reads slowly",
            client: { client in
                client.send(client.head("GET"))
                client.receiveResponse(slowly: true)
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(2 * long)\r\n\r\n".utf8) + DirectBytes.first(2 * long))
            }),
    ]

    // MARK: Bodies of requests

    private static let uploads: [DirectScene] = [
        DirectScene(
            name: "long body to an origin that reads slowly",
            client: { client in
                client.send(client.head("PUT", [length]))
                client.sendUntilRefused(DirectBytes.first(long), times: 1)
                client.receiveResponse()
            },
            origin: { connection, log in
                guard let head = connection.readHead() else { return }
                connection.noteBody(of: head, in: log) { _ in DirectScene.pause(0.005) }
                connection.answer()
            }),
        DirectScene(
            name: "chunked body with trailers",
            client: { client in
                client.send(client.head("POST", [chunked]))
                client.sendChunk(DirectBytes.first(100_000))
                client.send("0\r\nX-Sum: 1\r\n\r\n")
                client.receiveResponse()
            },
            origin: answering()),
        DirectScene(
            name: "body that pauses for longer than clientIdle",
            client: { client in
                client.send(client.head("POST", [chunked]))
                client.sendChunk(Data("one".utf8))
                client.pause(longPause)
                client.sendChunk(Data("two".utf8))
                client.send("0\r\n\r\n")
                client.receiveResponse()
            }, origin: answering(), outlastsClientIdle: true),
        DirectScene(
            name: "body whose chunks are answered one by one, with a pause",
            client: { client in
                client.send(client.head("POST", [chunked]))
                for number in 0..<8 {
                    if number == 4 { client.pause(longPause) }
                    client.sendChunk(Data("chunk \(number)".utf8))
                    if number == 0 { client.note(client.receiveHead().map { DirectLog.essence($0) } ?? "no head") }
                    client.note(client.receiveChunk().map { String(decoding: $0, as: UTF8.self) } ?? "no chunk")
                }
                client.send("0\r\n\r\n")
                client.note("last \(client.receiveChunk()?.count ?? -1)")
            }, origin: echoing, outlastsClientIdle: true),
        DirectScene(
            name: "Expect, 100, body",
            client: { client in
                client.expect {
                    client.send(client.head("POST", ["Content-Length: 3", "Expect: 100-continue"]))
                    client.receiveInterim()
                }
                client.send("abc")
                client.receiveResponse()
            },
            origin: { connection, log in
                guard let head = connection.readHead() else { return }
                log.note(.origin, "head \(DirectLog.essence(head))")
                connection.write("HTTP/1.1 100 Continue\r\n\r\n")
                connection.noteBody(of: head, in: log)
                connection.answer()
            }),
        DirectScene(
            name: "Expect, refused",
            client: { client in
                client.expect {
                    client.send(client.head("POST", ["Content-Length: 3", "Expect: 100-continue"]))
                    client.receiveResponse()
                }
            },
            origin: { connection, log in
                guard let head = connection.readHead() else { return }
                log.note(.origin, "head \(DirectLog.essence(head))")
                connection.answer("no", status: "417 Expectation Failed", fields: "Connection: close\r\n")
            }),
        DirectScene(
            name: "body that its client breaks off",
            client: { client in
                client.send(client.head("POST", ["Content-Length: 10"]) + "abc")
                // A request that its client breaks off before Layover is connected to the origin is never sent.
                client.receiveInterim()
            },
            origin: { connection, log in
                guard let head = connection.readHead() else { return }
                connection.write("HTTP/1.1 103 Early Hints\r\n\r\n")
                connection.noteBody(of: head, in: log)
            }),
    ]

    private static let echoing: @Sendable (OriginConnection, DirectLog) -> Void = { connection, log in
        guard connection.readHead() != nil else { return }
        connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        var count = 0
        while let size = connection.readLine().flatMap({ Int($0, radix: 16) }), let chunk = connection.read(size + 2) {
            count += 1
            guard size > 0 else { break }
            connection.write(Array("\(String(size, radix: 16))\r\n".utf8) + chunk)
        }
        log.note(.origin, "\(count) chunks")
        connection.write("0\r\n\r\n")
    }

    // MARK: Responses before the end of the request

    /// Answers after the head and reads on.
    private static func answeringEarly(
        _ response: String, isSlow: Bool = false
    ) -> @Sendable (OriginConnection, DirectLog) -> Void {
        { connection, log in
            guard let head = connection.readHead() else { return }
            connection.write(response)
            connection.noteBody(of: head, in: log) { _ in if isSlow { DirectScene.pause(0.05) } }
        }
    }

    private static let earlySuccess = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let earlyChunkedSuccess = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"

    private static let sendingFirst: @Sendable (DirectClient) throws -> Void = { client in
        client.send(client.head("POST", [length]))
        client.sendUntilRefused(DirectBytes.first(long), times: 1)
        client.receiveResponse()
    }

    private static let earlyResponses: [DirectScene] = [
        DirectScene(name: "early 200, client sends first", client: sendingFirst, origin: answeringEarly(earlySuccess), count: 3),
        DirectScene(
            name: "early 200, slow origin, client leaves once it has sent", client: sendingFirst,
            origin: answeringEarly(earlySuccess, isSlow: true)),
        DirectScene(
            name: "client leaves once it has sent, origin answers before it reads",
            client: { client in
                client.send(client.head("POST", ["Content-Length: 60000"]))
                client.send(DirectBytes.first(60_000))
                client.leave()
            },
            origin: { connection, log in
                guard let head = connection.readHead() else { return }
                // A response that comes to a client before it closes makes a reset of its close, by which Layover may lose the body.
                log.clientHasLeft.block()
                connection.waitForUnread(60_000)
                DirectScene.pause(0.2)
                connection.write(earlySuccess)
                DirectScene.pause(0.2)
                connection.noteBody(of: head, in: log)
            },
            // A client with TLS closes before it has read the tickets of its server, so its kernel resets the connection. The request may then
            // be lost, without a proxy, too.
            count: 3, ways: [.plain]),
        DirectScene(
            name: "early 200, client reads first",
            client: { client in
                client.send(client.head("POST", [length]))
                client.receiveResponse()
                client.sendUntilRefused(DirectBytes.first(long), times: 1)
            }, origin: answeringEarly(earlySuccess), count: 3),
        DirectScene(
            name: "early chunked 200, chunked request",
            client: { client in
                client.send(client.head("POST", [chunked]))
                client.sendChunk(DirectBytes.first(100_000))
                client.sendChunk(DirectBytes.first(long))
                client.send("0\r\n\r\n")
                client.receiveResponse()
            }, origin: answeringEarly(earlyChunkedSuccess)),
        DirectScene(
            name: "early 200 to a client of HTTP/1.0",
            client: { client in
                client.send(client.head("POST", [length], version: "1.0"))
                client.sendUntilRefused(DirectBytes.first(long), times: 1)
                client.receiveResponse()
            }, origin: answeringEarly(earlySuccess)),
        DirectScene(
            name: "early 404 without close", client: sendingFirst,
            origin: answeringEarly("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno")),
        DirectScene(
            name: "early 200, origin resets",
            client: { client in
                client.send(client.head("POST", ["Content-Length: \(16 * long)"]))
                client.receiveResponse()
                client.sendUntilRefused(DirectBytes.first(long), times: 16)
            },
            origin: { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write(earlySuccess)
                _ = connection.read(100_000)
                connection.reset()
            }),
    ]

    // MARK: Requests that are refused

    /// Reads a part of the body, answers and closes.
    private static func refusing(_ response: String) -> @Sendable (OriginConnection, DirectLog) -> Void {
        { connection, _ in
            guard connection.readHead() != nil, connection.read(20_000) != nil else { return }
            connection.write(response)
        }
    }

    /// A failed send does not matter here, only the response does.
    private static let sendingThenReading: @Sendable (DirectClient) throws -> Void = { client in
        client.send(client.head("POST", [length]))
        client.send(DirectBytes.first(long))
        client.receiveResponse()
    }

    private static let refusals: [DirectScene] = [
        DirectScene(
            name: "413 and close", client: sendingThenReading,
            origin: refusing("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"),
            count: 10),
        DirectScene(
            name: "401 and close, chunked", client: sendingThenReading,
            origin: refusing(
                "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                    + "2\r\nno\r\n0\r\n\r\n"
            ), count: 10),
        DirectScene(
            name: "404 and close without a word", client: sendingThenReading,
            origin: refusing("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"), count: 10),
        DirectScene(
            name: "http.client gets the 413", program: python,
            origin: refusing("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"),
            count: 3, ways: [.plain]),
    ]

    /// Sends all and reads then. Where it cannot send any more it reads nevertheless, as its users do.
    private static let python: @Sendable (_ port: Int, _ prefix: String) -> Command = { port, prefix in
        let script = """
            import http.client, sys
            connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=20)
            try:
                connection.request("POST", sys.argv[2] + "/x", body=b"x" * \(long))
            except (BrokenPipeError, ConnectionResetError):
                connection._HTTPConnection__state = "Request-sent"
            response = connection.getresponse()
            print(response.status, response.read())
            """
        return Command("python3", ["-c", script, String(port), prefix])
    }

    // MARK: Responses that break

    private static func breaking(
        _ response: String, resets: Bool = false
    ) -> DirectScene {
        DirectScene(
            name: "broken \(resets ? "by a reset" : "by a close"): \(response.debugDescription)",
            client: { client in
                client.send(client.head("POST", ["Content-Length: 3"]) + "abc")
                client.receiveResponse()
            },
            origin: { connection, log in
                guard connection.noteRequest(in: log) != nil else { return }
                connection.write(response)
                // The bytes are to be read before the reset.
                if resets {
                    log.clientHasHead.block()
                    connection.reset()
                }
            })
    }

    private static let brokenResponses: [DirectScene] = [
        breaking("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
        breaking("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", resets: true),
        breaking("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
        breaking("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", resets: true),
        breaking("HTTP/1.1 200 OK\r\n\r\nabc", resets: true),
    ]
}
