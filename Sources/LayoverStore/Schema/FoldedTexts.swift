import Foundation
import GRDB
import LayoverCore

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
