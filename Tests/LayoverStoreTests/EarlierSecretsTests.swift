import Foundation
import GRDB
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverStore

/// Values that version 0.1 wrote with swift-crypto (decision 41). They must stay readable for ever.
struct EarlierSecretsTests {
    private static let keyFile = """
        1 a1427c615098492e7465d2dc5c00a91d239ff7eadc4cdcd0a0ab651a3efbb31a
        2 5b534bbeadbe7912a63c9362e435babf1a66e4538ff53576c38f4fdfe9cdf45b

        """
    private static let id = EntryID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)
    private static let names = ["authorization", "cookie", "x-api-key", "X-Sum"]
    private static let fields = ByteBuffer(
        string: "Accept: */*\0Authorization: Bearer hunter2-token\0X-Api-Key:\0Cookie: a=b\0")
    private static let trailers = ByteBuffer(string: "X-Sum: 47\0")
    private static let clearFields = ByteBuffer(string: "Accept: */*\0Authorization: \0X-Api-Key:\0Cookie: \0")
    private static let clearTrailers = ByteBuffer(string: "X-Sum: \0")
    /// Sealed values of the fields and the trailers, by key 2.
    private static let sealedRequest = bytes(
        """
        010130ca7d497625da6fb36d810a20fb479a32a98f614d0da78b2c97d9ee252e8e2ba5c048a50bb76129f0661287aaba16085e01021cace8
        784bbf670c0aa04dc41be9691df4e8ae4be0d87463c3402e01cc01031ff2818d6f8770369abdb3e05a78ffdef9f9d680c7bdf2de5765622a
        fdb5fcc902001ec3029cafcfafb75dd69b5832b0aa3bc95337c424ca06266b787c715d267a
        """)
    /// By key 1.
    private static let sealedResponse = bytes(
        "030034642655b26a50d51c534391f71094f1dc708c32375be88fadd9704d71928f9680bacf6760ecb5670be729596a68099757cf120724")

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func keys(_ folder: TemporaryFolder) throws -> StoreKeys {
        try folder.write(Self.keyFile, to: "store.key")
        return try #require(try StoreKeyFile(path: folder.file("store.key").path).read())
    }

    @Test func keyFileKeepsItsFormat() throws {
        let folder = try TemporaryFolder()
        let keys = try keys(folder)
        #expect(keys.newestNumber == 2)
        #expect(
            try keys.fingerprint(of: 1).map(Self.text) == "b4e529bc1e11b095d0b222464b70159f511190f321d0ca4e369df130df87fa08")
        #expect(
            try keys.fingerprint(of: 2).map(Self.text) == "2471ae05664c12bad2215469c7550b609f8ee414fb864a5e321c87ccad9d1da1")
        #expect(try keys.fingerprint(of: 3) == nil)
        try StoreKeyFile(path: folder.file("again.key").path).write(keys)
        #expect(folder.text(of: "again.key") == Self.keyFile)
    }

    @Test func sealedFieldsOpen() throws {
        let sealing = FieldSealing(names: Self.names, keys: try keys(try TemporaryFolder()))
        let opened = try sealing.open(
            [(.requestFields, Self.clearFields), (.requestTrailers, Self.clearTrailers)],
            .init(keyNumber: 2, bytes: Self.sealedRequest), of: Self.id)
        #expect(opened == [Self.fields, Self.trailers])
        let response = try sealing.open(
            [(.responseFields, ByteBuffer(string: "Set-Cookie: \r\nServer: x\r\n"))],
            .init(keyNumber: 1, bytes: Self.sealedResponse), of: Self.id)
        #expect(response == [ByteBuffer(string: "Set-Cookie: id=of-the-answer; Path=/\r\nServer: x\r\n")])
    }

    /// New sealed values have the same form, so version 0.1 could read them too.
    @Test func sealedFieldsHaveTheSameForm() throws {
        let sealing = FieldSealing(names: Self.names, keys: try keys(try TemporaryFolder()))
        let (clear, sealed) = try sealing.seal(
            [(.requestFields, Self.fields), (.requestTrailers, Self.trailers)], of: Self.id)
        #expect(clear == [Self.clearFields, Self.clearTrailers])
        #expect(sealed?.keyNumber == 2)
        // Without the sealed form of the empty value, which version 0.1 sealed too: part, line and count, nonce and tag.
        #expect(sealed?.bytes.count == Self.sealedRequest.count - (3 + 12 + 16))
        #expect(sealed?.bytes.prefix(3) == Self.sealedRequest.prefix(3))
    }

    @Test func rowOpensAndIsResealedByARotation() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.keyFile, to: "store.key")
        var options = StoreOptions.quiet(folder.url.path)
        options.encryptFields = Self.names
        var store = try SQLiteStore.open(options: options)
        var request = StoredRequest.fixture()
        request.fields = RequestFields(lines: Self.fields)
        request.trailers = RequestFields(lines: Self.trailers)
        _ = try await store.commit([.insert(.fixture(1), request, nil)])
        try await store.pool.write { db in
            try db.execute(sql: "UPDATE ticket SET id = ?", arguments: [Data(Self.id.bytes)])
            try db.execute(sql: "UPDATE request SET keyNumber = 2, sealed = ?", arguments: [Data(Self.sealedRequest)])
        }
        #expect(try await store.request(of: Self.id) == request)
        await store.close()
        #expect(try SQLiteStore.rotateKey(options: options) == 1)
        store = try SQLiteStore.open(options: options)
        #expect(try await store.request(of: Self.id) == request)
        await store.close()
    }

    @Test func shownIDsStayTheSame() throws {
        let naming = try EntryNaming(secret: Array(0..<16))
        let one = EntryID(high: 0, low: 1)
        #expect(Self.text(naming.shown(Self.id).bytes) == "d988e83c6a2d7aaf7f4a6ca01b4513f6")
        #expect(Self.text(naming.meant(Self.id).bytes) == "7616f3cd55d0a8619cd148a023a7295b")
        #expect(Self.text(naming.shown(one).bytes) == "1244b1c7b0fdaf2e8c77587844b84c41")
        #expect(naming.meant(naming.shown(one)) == one)
    }
}
