import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Stores that must not be opened.
    @Suite struct StoreOpening {
        /// Runs it to its end, which must come by itself.
        private func start(in folder: TemporaryFolder) async throws -> CommandResult {
            try await RunningLayover.launch(in: folder).result(within: .seconds(60))
        }

        enum Damage: String, CaseIterable {
            case otherFile, otherDatabase, zeroedPages, cutOff
        }

        @Test(arguments: Damage.allCases)
        func damagedStoreIsRefusedAndNotChanged(damage: Damage) async throws {
            let first = try await DurableScene()
            for number in 1...20 { _ = try await first.accept("request-\(number)", bodyByteCount: 2_000) }
            #expect(await first.layover.stop().status == 0)
            let file = first.folder.file("layover.sqlite")
            try await apply(damage, to: file)
            let before = try Data(contentsOf: file)

            let result = try await start(in: first.folder)
            #expect(result.status == 1, "\(result)")
            #expect(result.errors.contains("layover.sqlite"), "\(result)")
            #expect(result.errors.contains("The file was not changed."), "\(result)")
            #expect(result.errors.contains(damage == .otherDatabase ? "Set another store.path" : "Restore a copy"), "\(result)")
            #expect(try Data(contentsOf: file) == before)
        }

        private func apply(_ damage: Damage, to file: URL) async throws {
            var bytes = try Data(contentsOf: file)
            switch damage {
            case .otherFile: bytes = Data("a letter\n".utf8)
            case .otherDatabase:
                try FileManager.default.removeItem(at: file)
                try await Command(
                    "/usr/bin/python3",
                    ["-c", "import sqlite3,sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE other (a)')", file.path]
                ).succeed()
                return
            case .zeroedPages: bytes.replaceSubrange(8_192..<40_960, with: Data(count: 32_768))
            case .cutOff: bytes = bytes.prefix(bytes.count / 2)
            }
            try bytes.write(to: file)
        }

        @Test func secondProcessOnTheSameStoreIsRefused() async throws {
            let scene = try await DurableScene()
            let ticket = try await scene.accept("one")
            // In the same folder, so that it has the same store; its ports are free ones.
            let second = try TemporaryFolder()
            try second.write(#"{"store":{"path":"\#(scene.folder.file("layover.sqlite").path)"}}"#, to: "config.json")
            let result = try await start(in: second)
            #expect(result.status == 1, "\(result)")
            #expect(result.errors.contains("in use by process \(scene.layover.process.pid)"), "\(result)")

            let origin = try await scene.startOrigin()
            try await scene.expectDelivery(of: [ticket])
            #expect(try origin.arrivals(of: "one") == 1)
        }

        @Test func copiedStateFolderSaysWhatToDo() async throws {
            let first = try await DurableScene()
            let ticket = try await first.accept("one", bodyByteCount: 200_000)
            #expect(await first.layover.stop().status == 0)
            let copy = try TemporaryFolder()
            for name in try FileManager.default.contentsOfDirectory(atPath: first.folder.url.path) {
                try FileManager.default.copyItem(at: first.folder.file(name), to: copy.file(name))
            }
            let result = try await start(in: copy)
            #expect(result.status == 1, "\(result)")
            let owner = copy.file("spool/owner").resolvingSymlinksInPath().path
            let original = first.folder.file("layover.sqlite").resolvingSymlinksInPath().path
            #expect(result.errors.contains("belongs to the store \(original)"), "\(result)")
            #expect(result.errors.contains("remove the file \(owner) and start again"), "\(result)")
            #expect(result.errors.contains("tickets that both have are then sent by both"), "\(result)")

            // As it says.
            try FileManager.default.removeItem(atPath: owner)
            let origin = try await first.startOrigin()
            let layover = try await RunningLayover.start(in: copy)
            let view = try await layover.ticket(ticket, wait: 20)
            #expect(view.state == "delivered")
            #expect(try origin.arrivals(of: "one") == 1)
            #expect(await layover.stop().status == 0)
        }

        /// A folder that was moved has no other owner, and starts.
        @Test func movedStateFolderStarts() async throws {
            let first = try await DurableScene()
            let ticket = try await first.accept("one", bodyByteCount: 200_000)
            #expect(await first.layover.stop().status == 0)
            let moved = try TemporaryFolder()
            for name in try FileManager.default.contentsOfDirectory(atPath: first.folder.url.path) {
                try FileManager.default.moveItem(at: first.folder.file(name), to: moved.file(name))
            }
            let origin = try await first.startOrigin()
            let layover = try await RunningLayover.start(in: moved)
            #expect(try await layover.ticket(ticket, wait: 20).state == "delivered")
            #expect(try origin.arrivals(of: "one") == 1)
            #expect(await layover.stop().status == 0)
        }
    }
}
