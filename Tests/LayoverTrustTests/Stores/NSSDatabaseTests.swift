import Foundation
import LayoverTLS
import LayoverTestSupport
import Testing

@testable import LayoverTrust

/// With the real certutil, in home folders of the tests' own.
struct NSSDatabaseTests {
    private let home: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        home = try TemporaryFolder()
        environment = ["HOME": home.url.path, "PATH": "/usr/bin:/bin"]
    }

    private func makeDatabase(_ path: String, password: String? = nil) async throws {
        let folder = home.file(path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let words = try password.map { ["-f", try home.write($0, to: "password")] } ?? ["--empty-password"]
        try await Command("certutil", ["-N", "-d", "sql:\(folder.path)"] + words).succeed()
    }

    private func places() -> [String] {
        NSSPlaces.databases(environment: environment).map { String($0.place.dropFirst(home.url.path.utf8.count + 1)) }
    }

    private let older = ".pki/nssdb"
    private let newer = ".local/share/pki/nssdb"

    @Test func chromiumsNewerPlaceIsMadeWhereThereIsNone() { #expect(places() == [newer]) }

    /// Chromium 146 and later use the older place if it is there, even if the certificate is only in the newer one (mkcert#671).
    @Test func everyDatabaseThatExistsIsFound() async throws {
        try await makeDatabase(older)
        #expect(places() == [older])
        try await makeDatabase(newer)
        for path in ["snap/chromium/current/.pki/nssdb", ".mozilla/firefox/a.default", "snap/firefox/common/.mozilla/firefox/b.default"] {
            try home.write("", to: "\(path)/cert9.db")
        }
        try home.write("", to: ".mozilla/firefox/Crash Reports/events")
        #expect(places() == [
            older, newer, "snap/chromium/current/.pki/nssdb", ".mozilla/firefox/a.default", "snap/firefox/common/.mozilla/firefox/b.default",
        ])
    }

    /// Both have one subject, as two authorities of one machine and day have; NSS likes to take such ones for the same.
    @Test func aCertificateIsAddedAndRemovedAndAnotherStays() async throws {
        let (certificate, other) = (try await Certificate.fixture(), try await Certificate.fixture())
        let database = NSSDatabase(home.file(newer).path, environment: environment)
        #expect(database.presence(of: certificate) == .absent)
        try database.add(certificate)
        try database.add(other)
        #expect(database.presence(of: certificate) == .trusted)

        try database.remove(certificate)
        #expect(database.presence(of: certificate) == .absent)
        #expect(database.presence(of: other) == .trusted)
    }

    /// Firefox asks for the name of the file, or takes that of the subject.
    @Test func aCertificateUnderAnotherNameIsFound() async throws {
        let certificate = try await Certificate.fixture()
        try await makeDatabase(newer)
        let file = try home.write(certificate.pem, to: "ca.pem")
        let database = NSSDatabase(home.file(newer).path, environment: environment)
        try await Command("certutil", ["-A", "-d", "sql:\(database.place)", "-n", "By hand, of mine", "-t", "CT,C,", "-i", file]).succeed()
        #expect(database.presence(of: certificate) == .trusted)
    }

    @Test func aDatabaseWithAPrimaryPasswordIsLeftAsItWas() async throws {
        let certificate = try await Certificate.fixture()
        try await makeDatabase(newer, password: "secret")
        let database = NSSDatabase(home.file(newer).path, environment: environment)
        #expect(throws: TrustObstacle.failed("it has a primary password; import the certificate in the browser's settings")) {
            try database.add(certificate)
        }
        let listing = try await Command("certutil", ["-L", "-d", "sql:\(database.place)"]).succeed().output
        #expect(!listing.contains("Layover"), "\(listing)")
    }

    @Test func aListingIsReadWithItsSpaces() {
        let listing = NSSDatabase.entries(of: "\nCertificate Nickname   Trust Attributes\n   SSL,S/MIME,JAR/XPI\n\nA, b   c       CTu,Cu,u\nPlain ,,   \n")
        #expect(listing.map(\.nickname) == ["A, b   c", "Plain"])
        #expect(listing.map(\.trust) == ["CTu,Cu,u", ",,"])
    }
}
