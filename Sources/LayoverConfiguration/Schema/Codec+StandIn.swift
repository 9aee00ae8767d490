import LayoverCore

extension StandInResponse {
    /// A stand-in is kept in memory for each policy that has one. 64 KiB.
    static let bodyByteCountMax = 64 << 10
    /// Names and values together. Common clients take no more than 16 KiB of a head.
    static let fieldByteCountMax = 8 << 10

    /// Responses that never have a body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5).
    static let bodilessStatuses: Set<Int> = [204, 205, 304]
}

extension Codec where Value == StandInResponse {
    /// `{"status":200,"fields":{},"body":""}`. What is left out is as in this example.
    static var standIn: Codec {
        let (status, fields) = (Codec<Int>.integer(200...599), Codec<[String: String]>.fields)
        return Codec(
            "object", fromText: JSONValue.fromText,
            write: { response in
                let lines = response.fields.map { ($0.name, JSONValue.text($0.value.revealed)) }
                return .object([
                    "status": .integer(response.status), "body": .text(response.body),
                    "fields": .object(Dictionary(lines, uniquingKeysWith: { first, _ in first })),
                ])
            },
            read: { (value) throws(Refusal) in
                let members = try value.members(among: ["status", "fields", "body"])
                let given = try members.read("fields", by: fields) ?? [:]
                try checkFields(given)
                let response = StandInResponse(
                    status: try members.read("status", by: status) ?? 200,
                    // Sorted, because an object has no order of its own.
                    fields: given.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) },
                    body: try members.read("body", by: Codec<String>.plain("body") { $0 }) ?? "")
                try checkBody(response)
                return response
            })
    }

    private static func checkFields(_ fields: [String: String]) throws(Refusal) {
        for name in fields.keys.sorted() { try FieldText.checkNotOfResponses(name, place: ".fields." + name) }
        let count = fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard count <= StandInResponse.fieldByteCountMax else {
            throw Refusal(
                place: ".fields", message: "names and values exceed 8KiB (\(count) bytes)")
        }
    }

    private static func checkBody(_ response: StandInResponse) throws(Refusal) {
        let count = response.body.utf8.count
        guard count <= StandInResponse.bodyByteCountMax else {
            throw Refusal(place: ".body", message: "the body exceeds 64KiB (\(count) bytes)")
        }
        guard count == 0 || !StandInResponse.bodilessStatuses.contains(response.status) else {
            throw Refusal(place: ".body", message: "a response with status \(response.status) has no body")
        }
    }
}
