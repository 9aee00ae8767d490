import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// A request in the columns of `request`.
enum RequestRow {
    private static let columns = [
        "scheme", "host", "port", "method", "target", "hostField", "fields", "hasBody", "body", "bodyFile",
        "bodyByteCount", "trailers", "hasTokens", "keyNumber", "sealed",
    ]

    static let insertion = """
        INSERT INTO request (sequence, \(columns.joined(separator: ", ")))
        VALUES (?, \(Array(repeating: "?", count: columns.count).joined(separator: ", ")))
        """

    static let selection = """
        SELECT \(columns.map { "request.\($0)" }.joined(separator: ", "))
        FROM ticket JOIN request USING (sequence) WHERE ticket.id = ?
        """

    static func bind(
        _ request: StoredRequest, of id: EntryID, sealing: FieldSealing, to binder: inout StatementBinder
    ) throws(StoreError) {
        var parts = [(FieldSealing.Part.requestFields, request.fields.lines)]
        if let trailers = request.trailers { parts.append((.requestTrailers, trailers.lines)) }
        let (clear, sealed) = try sealing.seal(parts, of: id)
        binder.bind(request.origin)
        binder.bind(request.method)
        binder.bind(request.target)
        binder.bind(request.host)
        binder.bind(clear[0])
        binder.bind(request.hasBody)
        binder.bind(request.body)
        binder.bind(clear.count > 1 ? clear[1] : nil)
        binder.bind(request.hasTokens)
        binder.bind(sealed)
    }

    static func read(
        _ row: inout RowReader, of id: EntryID, sealing: FieldSealing
    ) throws(StoreError) -> StoredRequest {
        var request = StoredRequest(
            origin: try row.origin(), method: row.text(), target: row.text(), host: row.text(), fields: [:])
        var parts = [(FieldSealing.Part.requestFields, row.buffer())]
        request.hasBody = row.bool()
        request.body = try row.body()
        if let trailers = row.optionalBuffer() { parts.append((.requestTrailers, trailers)) }
        request.hasTokens = row.bool()
        let whole = try sealing.open(parts, row.sealed(), of: id)
        request.fields = RequestFields(lines: whole[0])
        if whole.count > 1 { request.trailers = RequestFields(lines: whole[1]) }
        return request
    }
}
