import Foundation
import GRDB
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverStore

/// A store of version 7, whose rows spell an empty value as libcurl is told of it (`Name;`), is opened and
/// sends the same bytes.
@Suite struct EmptyValuesTests {
    /// Data that version 7 wrote: `store.key`, and its rows.
    private static let key = "1 e4971d46dfce8ed671a69641db36abadcda197c133b3a79cb038a04b90b29cc2\n"

    private static let rows = """
        INSERT INTO ticket (
            sequence, id, revision, state, method, url, scheme, host, port, policy, priority, clientAddress, clientConnected,
            attemptCount, automaticCount, mayHaveBeenApplied, isRepeatable, hasIdempotencyKey, isExposed, isHeldBack,
            requestByteCount, createdAt, parkedAt, dueAt, expiresAt, preconditions, isForced, isAskedFor, hasOwnDeadline,
            hasOwnPriority) VALUES (
            1, X'123456789ABCDEF00000000000000001', 1, 'waiting', 'PUT', 'https://api.example.com/things/1', 'https',
            'api.example.com', 443, 'outbox', 3, '127.0.0.1:1234', 0, 0, 0, 0, 0, 0, 0, 0, 0, 1700000001000000000,
            1700000001000000000, 1700000001000000000, 1700003601000000000, 'If-Match: "a;"
        If-Match;
        If-None-Match;', 0, 0, 0,
            0);
        INSERT INTO ticket (
            sequence, id, revision, state, method, url, scheme, host, port, policy, priority, clientAddress, clientConnected,
            attemptCount, automaticCount, mayHaveBeenApplied, isRepeatable, hasIdempotencyKey, isExposed, isHeldBack,
            requestByteCount, createdAt, parkedAt, dueAt, expiresAt, endedAt, endedMeasured, isForced, isAskedFor,
            hasOwnDeadline, hasOwnPriority) VALUES (
            2, X'123456789ABCDEF00000000000000002', 2, 'delivered', 'POST', 'https://api.example.com/things/2', 'https',
            'api.example.com', 443, 'outbox', 3, '127.0.0.1:1234', 0, 0, 0, 0, 0, 0, 0, 0, 0, 1700000002000000000,
            1700000002000000000, 1700000002000000000, 1700003602000000000, 1700000002000000000, 1700000002000000000, 0, 0, 0,
            0);
        INSERT INTO request (
            sequence, scheme, host, port, method, target, hostField, fields, hasBody, body, bodyByteCount, trailers, hasTokens,
            keyNumber, sealed) VALUES (
            1, 'https', 'api.example.com', 443, 'PUT', '/things?a=b%20', 'api.example.com',
            X'4163636570743A202A2F2A00582D456D7074793B00617574686F72697A6174696F6E3A2000436F6F6B69653B00582D436F6C6F6E733A203A61\
        3A623A00582D53656D69636F6C6F6E733A203B613B00582D42797465733A20E9FF8000782D656D7074793B00582D54776F3A203100434F4F4B49453A\
        2000582D54776F3A20320049662D4D617463683B0049662D4E6F6E652D4D617463683A2022613B2200582D4C6173743B005669613A20312E31206C61\
        796F7665722D3100',
            1, X'616263', 3, X'582D53756D3A203100582D4E6F6E653B00582D4170692D4B65793A2000582D456E643A203B00', 0, 1,
            X'010230EF77A8B0DEF08FB89ECF4AECD2E4861C76924C369B07AF0991F46B4C8601108C59626EF35A0ABDCCEE6F117AD5C3ABE6010933CD9741\
        DF46AE28C21F2EBFE4033963ED8124F909FF69E8017EED3BEB9869B0D39471FFF61391252CCCA2F3E52DBA68849B600C0202234CD02AE94F19E819E5\
        9CA9371A246F650E4177AA7C0C0D8E0A0758DE89D93871A62EFF');
        INSERT INTO answer (
            sequence, status, fields, bodyByteCount, isBodyLost, keyNumber, sealed) VALUES (
            2, 200, X'5365742D436F6F6B69653A200D0A582D456D7074793A200D0A5365727665723A20783B0D0A', 0, 0, 1,
            X'030034C6155D44636AFF1D22BA92D0398DFD74A314B108DD0706DCAB7E3BD16348473046EAB9608B855381746EB69C51166798088A5F85');
        INSERT INTO sealing (
            keyNumber, fingerprint) VALUES (
            1, X'053389B21A9CE28F731256AABCAD7F804833D4BC64176B19F2B3E62A5F94467B');
        INSERT INTO facts (
            row, lastSequence, settlings, storeID, unmeasured) VALUES (
            1, 0, 0, X'187F17D68FFAB6767FC1B871117CA584', 0);
        """

    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        let pool = try StoreConnections.open(folder.file("layover.sqlite").path)
        try StoreSchema.migrator().migrate(pool, upTo: "7")
        try await pool.write { db in
            try db.execute(sql: "DELETE FROM facts")
            try db.execute(sql: Self.rows)
        }
        try pool.close()
        try folder.write(Self.key, to: "store.key")
    }

    private func open() throws -> SQLiteStore {
        var options = StoreOptions.quiet(folder.url.path)
        options.encryptFields = ["Authorization", "Cookie", "X-Api-Key"]
        return try SQLiteStore.open(options: options)
    }

    @Test func aRequestOfVersion7SendsTheSameBytes() async throws {
        let store = try open()
        let request = try #require(try await store.request(of: .fixture(1)))
        var sent = ByteBuffer()
        request.fields.write(into: &sent)
        let lines =
            Array(
                """
                Accept: */*\r\nX-Empty:\r\nauthorization: Bearer hunter2-token\r\nCookie:\r\nX-Colons: :a:b:\r\nX-Semicolons: ;a;\r\n\
                X-Bytes:
                """.utf8) + [0x20, 0xE9, 0xFF, 0x80]
            + Array(
                """
                \r\nx-empty:\r\nX-Two: 1\r\nCOOKIE: session=open-sesame; b=\r\nX-Two: 2\r\nIf-Match:\r\n\
                If-None-Match: "a;"\r\nX-Last:\r\nVia: 1.1 layover-1\r\n
                """.utf8)
        #expect(Array(sent.readableBytesView) == lines)
        #expect(request.trailers == ["X-Sum": "1", "X-None": "", "X-Api-Key": "tr4iler", "X-End": ";"])
        #expect(request.method == "PUT" && request.hasBody && request.body == .inline(ByteBuffer(string: "abc")))
        let response = StoredResponse(
            status: 200, fields: ByteBuffer(string: "Set-Cookie: id=of-the-answer; Path=/\r\nX-Empty: \r\nServer: x;\r\n"), body: .none)
        #expect(try await store.response(of: .fixture(2)) == response)
        await store.close()
    }

    /// Equal expectations are equal text, whatever version wrote it down.
    @Test func preconditionsOfVersion7StayTheSame() async throws {
        let store = try open()
        #expect(try store.live().map(\.preconditions) == ["If-Match: \nIf-Match: \"a;\"\nIf-None-Match: "])
        await store.close()
    }

    /// Version 11 keeps what searches look at.
    @Test func ticketsThatEndedInVersion7AreFound() async throws {
        let store = try open()
        var query = PendingQuery()
        query.filter.states = [.delivered]
        for (text, ids) in [("THINGS/2", [EntryID.fixture(2)]), ("api.example", [.fixture(2)]), ("things/1", [])] {
            query.filter.text = text
            #expect(try await store.ended(query, naming: .plain).map(\.id) == ids)
        }
        await store.close()
    }

    @Test func rowsAreRenewedOnce() async throws {
        let store = try open()
        let spelled = try await store.pool.read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM request WHERE instr(fields, X'3B00') > 0 AND instr(fields, X'456D7074793B') > 0")
        }
        #expect(spelled == 0)
        let request = try await store.request(of: .fixture(1))
        await store.close()
        let again = try open()
        #expect(try await again.request(of: .fixture(1)) == request)
        await again.close()
    }
}
