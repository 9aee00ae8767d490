import LayoverCore
import LayoverEngine
import NIOCore

/// A response in the columns of `answer`.
enum ResponseRow {
    private static let columns = [
        "status", "fields", "body", "bodyFile", "bodyByteCount", "isBodyLost", "keyNumber", "sealed",
    ]

    static let insertion = """
        INSERT INTO answer (sequence, \(columns.joined(separator: ", ")))
        VALUES (
            (SELECT sequence FROM ticket WHERE id = ?),
            \(Array(repeating: "?", count: columns.count).joined(separator: ", ")))
        """

    static let selection = """
        SELECT \(columns.map { "answer.\($0)" }.joined(separator: ", "))
        FROM ticket JOIN answer USING (sequence) WHERE ticket.id = ?
        """

    static func bind(
        _ response: StoredResponse, of id: EntryID, sealing: FieldSealing, to binder: inout StatementBinder
    ) throws(StoreError) {
        let (clear, sealed) = try sealing.seal([(.responseFields, response.fields)], of: id)
        binder.bind(response.status)
        binder.bind(clear[0])
        binder.bind(response.body)
        binder.bind(response.isBodyLost)
        binder.bind(sealed)
    }

    static func read(
        _ row: inout RowReader, of id: EntryID, sealing: FieldSealing
    ) throws(StoreError) -> StoredResponse {
        let status = row.int()
        let fields = row.buffer()
        let body = try row.body()
        let isBodyLost = row.bool()
        let whole = try sealing.open([(.responseFields, fields)], row.sealed(), of: id)
        return StoredResponse(status: status, fields: whole[0], body: body, isBodyLost: isBodyLost)
    }
}
