import Foundation
import Testing

@testable import LayoverConfiguration

@Suite struct ConfigurationFileTests {
    @Test(arguments: [
        ("/nowhere/config.json", "No such file or directory"), ("/", "Is a directory"), ("/dev/zero", "the file exceeds 16 MiB"),
    ])
    func aFileThatCannotBeReadIsOneClearLine(file: String, reason: String) {
        let error = #expect(throws: ConfigurationErrors.self) { try ConfigurationLoader.load(file: file) }
        #expect(error?.description == "\(file): cannot be read: \(reason).")
    }

    @Test func certificatesAreReadBeforeAnythingStarts() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let config = folder.appending(path: "config.json").path
        let file = folder.appending(path: "ca.pem")
        try #"{"tls": {"caFile": "ca.pem"}}"#.write(toFile: config, atomically: true, encoding: .utf8)
        func complaint(_ text: String) throws -> String? {
            try text.write(to: file, atomically: true, encoding: .utf8)
            do throws(ConfigurationErrors) {
                _ = try ConfigurationLoader.load(file: config)
                return nil
            } catch {
                return error.description
            }
        }
        let missing = #expect(throws: ConfigurationErrors.self) { try ConfigurationLoader.load(file: config) }
        #expect(
            missing?.description
                == "\(config): tls.caFile: the file \(file.path) cannot be read: No such file or directory.")
        let none = "\(config): tls.caFile: the file \(file.path) contains no certificate in PEM form (-----BEGIN CERTIFICATE-----)."
        #expect(try complaint("") == none)
        #expect(try complaint("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n") == none)
        func pem(_ content: String, _ kind: String = "CERTIFICATE") -> String {
            "a comment\n-----BEGIN \(kind)-----\n\(content)\n-----END \(kind)-----\n"
        }
        let sound = Data([0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 7, count: 256)).base64EncodedString()
        let small = Data([0x30, 0x81, 0x80] + [UInt8](repeating: 7, count: 128)).base64EncodedString()
        #expect(try complaint(pem(sound) + pem(small) + pem(sound, "X509 CERTIFICATE") + pem(sound, "TRUSTED CERTIFICATE")) == nil)
        let cut = Data([0x30, 0x82, 0x01, 0x00, 7, 7]).base64EncodedString()
        for damaged in ["", "AAAA", "!!!!", cut] {
            #expect(
                try complaint(pem(sound) + pem(damaged)) == "\(config): tls.caFile: certificate 2 in the file \(file.path) is damaged.")
        }
        #expect(try complaint("-----BEGIN CERTIFICATE-----\n\(sound)\n")?.hasSuffix("is damaged.") == true)
    }

    @Test func aLongFileIsReadWhole() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "config.json")
        let text = String(repeating: " \n", count: 100_000) + #"{"proxy": {"identity": "far-away"}}"#
        try text.write(to: file, atomically: true, encoding: .utf8)
        let loaded = try ConfigurationLoader.load(file: file.path)
        #expect(loaded.settings.proxy.identity == "far-away")
        #expect(loaded.settings.store.folder == folder.path)
    }
}
