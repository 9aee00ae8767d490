import LayoverCore
import LayoverEngine
import NIOCore

/// A response in the columns of `answer`.
enum AnswerRow {
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
        _ answer: StoredAnswer, of id: EntryID, sealing: FieldSealing, to binder: inout StatementBinder
    ) throws(StoreError) {
        let (clear, sealed) = try sealing.seal([(.answerFields, answer.fields)], of: id)
        binder.bind(answer.status)
        binder.bind(clear[0])
        binder.bind(answer.body)
        binder.bind(answer.isBodyLost)
        binder.bind(sealed)
    }

    static func read(
        _ row: inout RowReader, of id: EntryID, sealing: FieldSealing
    ) throws(StoreError) -> StoredAnswer {
        let status = row.int()
        let fields = row.buffer()
        let body = try row.body()
        let isBodyLost = row.bool()
        let whole = try sealing.open([(.answerFields, fields)], row.sealed(), of: id)
        return StoredAnswer(status: status, fields: whole[0], body: body, isBodyLost: isBodyLost)
    }
}
