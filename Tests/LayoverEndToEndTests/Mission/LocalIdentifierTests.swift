import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// An object that is created offline has no id yet: a token names the ticket whose response will contain it.
    @Suite struct LocalIdentifier {
        /// The request that the origin received, from its response.
        private struct Echo: Decodable {
            var target: String
            var body: String
            var fields: [[String]]

            func value(_ name: String) -> String? { fields.first { $0.first == name }?.last }
        }

        private static func received(_ ticket: String, _ scene: Scene) async throws -> Echo {
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            return try JSONDecoder().decode(Echo.self, from: try await scene.layover.ticketResponse(ticket).body)
        }

        /// In the target, in a field, in a JSON body and in a form; and the process dies in between.
        @Test(arguments: [
            (
                "application/json", #"{"card":"~ticket.ID.json.id~","by":"for ~ticket.ID.json.owner.name~!"}"#,
                #"{"card":"7","by":"for Æ & \"Co\"!"}"#
            ),
            (
                "application/x-www-form-urlencoded", "card=~ticket.ID.json.id~&by=%7Eticket.ID.json.owner.name%7E",
                "card=7&by=%C3%86+%26+%22Co%22"
            ),
        ])
        func s3gLocalIdIsReplacedByTheIdOfTheServer(type: String, body: String, received: String) async throws {
            let scene = try await Scene()
            let card = try await scene.submit("/made", body: "a card")
            let picture = try await scene.submit(
                "/~ticket.\(card).location~/pictures?of=~ticket.\(card).json.owner.name~", "Content-Type: \(type)",
                "If-Match: ~ticket.\(card).field.ETag~", body: body.replacing("ID", with: card))
            #expect(try await scene.layover.ticket(picture).waitingFor == "parent")
            let again = try await scene.killedAndRestarted()
            let origin = try await again.startOrigin()
            try await again.networkAppears()
            let echo = try await Self.received(picture, again)
            #expect(echo.target == "/made/7/pictures?of=%C3%86%20%26%20%22Co%22")
            #expect(String(decoding: Array(echo.body.unicodeScalars.map { UInt8($0.value) }), as: UTF8.self) == received)
            #expect(echo.value("If-Match") == "\"v1\"")
            #expect(origin.requests == ["POST /made", "POST \(echo.target)"])
        }

        /// The parent was delivered long ago, in another life of the process.
        @Test func s3gKnownIdOfTheServerIsInsertedAtOnce() async throws {
            let (scene, origin) = try await Scene.withOrigin()
            let card = try await scene.submit("/made")
            #expect(try await scene.layover.ticket(card, wait: 20).state == "delivered")
            let again = try await scene.killedAndRestarted()
            let picture = try await again.submit("/made/~ticket.\(card).json.id~?key=~uuid~")
            let echo = try await Self.received(picture, again)
            #expect(echo.target.hasPrefix("/made/7?key="))
            #expect(UUID(uuidString: String(echo.target.dropFirst("/made/7?key=".count))) != nil)
            #expect(origin.requests.count == 2)
        }

        @Test func s3gMissingIdOfTheServerMakesTheTicketUndecided() async throws {
            let (scene, origin) = try await Scene.withOrigin()
            let card = try await scene.submit("/made")
            let picture = try await scene.submit("/made/~ticket.\(card).json.number~")
            let view = try await scene.layover.ticket(picture, wait: 20)
            #expect(view.state == "undecided")
            #expect(view.why == "rejected")
            let entry = try await scene.layover.call("GET", "/v1/pending/\(picture)")
            #expect(entry.text.contains("number"), "what is missing is named: \(entry.text)")
            #expect(origin.requests == ["POST /made"])
        }
    }
}
