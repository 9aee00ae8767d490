import LayoverEngine
import LayoverStore
import LayoverTestSupport
import Testing

@Suite struct ContractTests {
    @Test(arguments: PendingStoreContract.checks)
    func sqliteStoreKeepsTheContract(check: PendingStoreContract.Check) async throws {
        let folder = try TemporaryFolder()
        try await check.run(in: folder.url.path) { path in
            try SQLiteStore.open(options: .quiet(path))
        }
    }

    @Test(arguments: PendingStoreContract.checks)
    func memoryStoreKeepsTheContract(check: PendingStoreContract.Check) async throws {
        let folder = try TemporaryFolder()
        let disk = MemoryDisk(spoolFolder: folder.url.path + "/spool")
        try await check.run(in: folder.url.path) { _ in MemoryStore(on: disk) }
    }
}
