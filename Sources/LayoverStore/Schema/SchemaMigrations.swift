import Foundation
import GRDB
import LayoverCore

/// Version 8 of the schema: a field without a value is kept as `Name: `, like any other field. Earlier versions kept it as
/// libcurl is told of it, `Name;`.
enum EmptyValues {
    static func renew(in db: Database) throws {
        // A line is never long, but there may be many: the rows are read one by one.
        let requests = try Int64.fetchAll(
            db, sql: "SELECT sequence FROM request WHERE instr(fields, X'3B00') > 0 OR instr(trailers, X'3B00') > 0")
        for sequence in requests {
            guard let row = try Row.fetchOne(db, sql: "SELECT fields, trailers FROM request WHERE sequence = ?", arguments: [sequence])
            else { continue }
            let (fields, trailers): (Data, Data?) = (row[0], row[1])
            try db.execute(
                sql: "UPDATE request SET fields = ?, trailers = ? WHERE sequence = ?",
                arguments: [renewed(fields), trailers.map(renewed), sequence])
        }
        let tickets = try Row.fetchAll(db, sql: "SELECT sequence, preconditions FROM ticket WHERE instr(preconditions, ';') > 0")
        for row in tickets {
            let (sequence, preconditions): (Int64, String) = (row[0], row[1])
            let lines = preconditions.split(separator: "\n").map { String(decoding: line(Array($0.utf8)), as: UTF8.self) }
            try db.execute(
                sql: "UPDATE ticket SET preconditions = ? WHERE sequence = ?",
                arguments: [lines.sorted().joined(separator: "\n"), sequence])
        }
    }

    /// Lines with a NUL behind each.
    private static func renewed(_ lines: Data) -> Data {
        var renewed = Data()
        for old in lines.split(separator: 0) {
            renewed.append(contentsOf: line(Array(old)))
            renewed.append(0)
        }
        return renewed
    }

    /// A field with a value has a colon, and its name is a token, which has neither.
    private static func line(_ line: [UInt8]) -> [UInt8] {
        guard line.last == UInt8(ascii: ";"), !line.contains(UInt8(ascii: ":")) else { return line }
        return line.dropLast() + Array(": ".utf8)
    }
}

/// Version 11 of the schema: what searches look at is kept beside each final ticket, and lists have an index.
enum FoldedTexts {
    static func add(to db: Database) throws {
        try db.execute(sql: "ALTER TABLE ticket ADD COLUMN foldedText TEXT")
        let ended = try Int64.fetchAll(db, sql: "SELECT sequence FROM ticket WHERE endedAt IS NOT NULL")
        for sequence in ended {
            let row = try Row.fetchOne(
                db, sql: "SELECT scheme, host, port, url, lastFailure FROM ticket WHERE sequence = ?", arguments: [sequence])
            guard let row else { continue }
            let origin = Origin(scheme: Origin.Scheme(rawValue: row[0]) ?? .http, host: row[1], port: row[2])
            let failure: Failure? = (row[4] as Data?).flatMap { bytes in
                bytes.withUnsafeBytes { bytes in
                    var reader = ByteReader(bytes)
                    return try? reader.readFailure()
                }
            }
            try db.execute(
                sql: "UPDATE ticket SET foldedText = ? WHERE sequence = ?",
                arguments: [EntrySearch.foldedText(of: origin, url: row[3], failure: failure), sequence])
        }
        try db.execute(sql: EndedList.index)
    }
}
