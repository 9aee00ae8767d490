import Glibc
import GRDBSQLite
import LayoverEngine
@testable import LayoverStore
import Testing

@Suite struct StoreErrorTests {
    private struct Case: CustomTestStringConvertible {
        var code: Int32
        var systemCode: Int32 = 0
        var disk = DiskState()
        var kind: StoreFailure.Kind

        var testDescription: String { "\(code) \(systemCode) \(disk) \(kind)" }
    }

    private static let sync = SQLITE_IOERR | 4 << 8
    private static let growth = SQLITE_IOERR | 19 << 8

    @Test(arguments: [
        Case(code: SQLITE_FULL, kind: .full), Case(code: SQLITE_READONLY, kind: .readOnly),
        Case(code: SQLITE_CORRUPT, kind: .corrupt), Case(code: SQLITE_NOTADB, kind: .corrupt),
        Case(code: SQLITE_BUSY, kind: .locked), Case(code: SQLITE_CONSTRAINT | 5 << 8, kind: .other),
        Case(code: sync, systemCode: EIO, kind: .io), Case(code: sync, systemCode: ENOSPC, kind: .full),
        Case(code: sync, systemCode: EDQUOT, kind: .full), Case(code: sync, systemCode: EROFS, kind: .readOnly),
        Case(code: SQLITE_CANTOPEN, systemCode: EACCES, kind: .readOnly),
        Case(code: growth, disk: DiskState(isFull: true), kind: .full),
        Case(code: growth, disk: DiskState(isReadOnly: true), kind: .readOnly), Case(code: growth, kind: .io),
    ])
    private func aCodeOfSQLiteBecomesAKind(example: Case) {
        var error = StoreError(code: example.code, text: "")
        error.systemCode = example.systemCode
        #expect(error.kind(disk: example.disk) == example.kind)
    }
}
