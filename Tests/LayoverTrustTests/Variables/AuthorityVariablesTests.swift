import Foundation
import LayoverTLS
import LayoverTestSupport
import Testing

@testable import LayoverTrust

struct AuthorityVariablesTests {
    private static let adding = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"]
    private static let replacing = AuthorityVariable.all.map(\.name).filter { !adding.contains($0) }

    /// A home folder without anything.
    private let home: TemporaryFolder
    private let authority: Certificate
    private var clients: String { home.file("clients").path }
    /// No Java: its half second would be all that these tests wait for.
    private var empty: [String: String] { ["HOME": home.url.path, "PATH": "/nowhere", "JAVA_HOME": "/nowhere"] }

    init() async throws {
        home = try TemporaryFolder()
        authority = try await .fixture()
    }

    private func exported(_ set: [String: String] = [:], by authority: Certificate? = nil) throws -> [String: String] {
        let variables = AuthorityVariables(authority: authority ?? self.authority, files: GeneratedFiles(folder: clients))
        let list = try variables.exports(over: empty.merging(set) { $1 }, proxyURL: "http://127.0.0.1:8080")
        return Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0.value) })
    }

    private func certificates(_ path: String?) -> [[UInt8]] { path.flatMap(BoundedFile.certificates) ?? [] }

    @Test func aVariableThatAddsNamesTheAuthorityAlone() async throws {
        let exports = try exported()
        for name in Self.adding { #expect(certificates(exports[name]) == [authority.der]) }
    }

    @Test func aVariableThatReplacesNamesTheSystemsAuthoritiesToo() async throws {
        let exports = try exported()
        let system = SystemBundle.certificates()
        #expect(system.count > 50)
        for name in Self.replacing {
            let found = certificates(exports[name])
            #expect(found.last == authority.der && Set(found).isSuperset(of: system), "\(name)")
        }
        // No variable was set, so one file is enough for all of them.
        #expect(Set(Self.replacing.map { exports[$0] }).count == 1)
    }

    @Test(arguments: AuthorityVariable.all.map(\.name))
    func certificatesOfTheFormerFileStayTrusted(name: String) async throws {
        let other = try await Certificate.fixture()
        let file = try home.write(other.pem, to: "other.pem")
        let found = certificates(try exported([name: file])[name])
        #expect(found.contains(other.der) && found.contains(authority.der))
    }

    /// requests falls back on curl's variable, and curl on OpenSSL's: these certificates stay trusted.
    @Test func certificatesOfFallbackVariablesStayTrusted() async throws {
        let (corporate, curls) = (try await Certificate.fixture(), try await Certificate.fixture())
        let exports = try exported([
            "SSL_CERT_FILE": try home.write(corporate.pem, to: "corporate.pem"),
            "CURL_CA_BUNDLE": try home.write(curls.pem, to: "curl.pem"),
        ])
        #expect(certificates(exports["GIT_SSL_CAINFO"]).contains(corporate.der))
        #expect(certificates(exports["REQUESTS_CA_BUNDLE"]).contains(curls.der))
        #expect(!certificates(exports["GIT_SSL_CAINFO"]).contains(curls.der))
        #expect(certificates(exports["NODE_EXTRA_CA_CERTS"]) == [authority.der])
    }

    @Test func aFolderOfCertificatesIsRead() async throws {
        let other = try await Certificate.fixture()
        try home.write(other.pem, to: "certs/other.pem")
        let exports = try exported(["REQUESTS_CA_BUNDLE": home.file("certs").path])
        #expect(certificates(exports["REQUESTS_CA_BUNDLE"]).contains(other.der))
    }

    @Test func aSecondTimeGivesTheSame() async throws {
        let other = try home.write(try await Certificate.fixture().pem, to: "other.pem")
        let before = ["SSL_CERT_FILE": other, "NODE_EXTRA_CA_CERTS": other, "JAVA_TOOL_OPTIONS": "-Xmx1g"]
        let once = try exported(before)
        #expect(try exported(before.merging(once) { $1 }) == once)
        // `APT_CONFIG` is ours in the second environment.
        #expect(once["APT_CONFIG"] != nil)
    }

    @Test func takingBackGivesTheEnvironmentOfBefore() async throws {
        let other = try home.write(try await Certificate.fixture().pem, to: "other.pem")
        let wgetrc = try home.write("tries = 3\n", to: "wgetrc")
        let before = empty.merging([
            "SSL_CERT_FILE": other, "NODE_EXTRA_CA_CERTS": other, "WGETRC": wgetrc, "JAVA_TOOL_OPTIONS": "-Xmx1g",
            "PIP_CERT": "/absent.pem",
            "PHP_INI_SCAN_DIR": "/etc/mine:/etc/other",
        ]) { $1 }
        let exports = try exported(before)
        #expect(exports["CURL_CA_BUNDLE"] != nil)
        #expect(AuthorityVariables.restored(before.merging(exports) { $1 }) == before)
    }

    @Test func variablesOfTheUserAreNotTakenBack() async throws {
        let other = try TemporaryFolder().write(try await Certificate.fixture().pem, to: "other.pem")
        #expect(AuthorityVariables.changes(takingBack: ["SSL_CERT_FILE": other, "PIP_CERT": "/absent", "WGETRC": "/dev/zero"]).isEmpty)
    }

    @Test func anotherAuthorityTakesThePlaceOfTheFirst() async throws {
        let first = try exported()
        let second = try exported(first, by: try await Certificate.fixture())
        // In the same files: programs that run already find it.
        #expect(second == first)
        #expect(!certificates(second["SSL_CERT_FILE"]).contains(authority.der))
        #expect(certificates(second["NODE_EXTRA_CA_CERTS"]).count == 1)
    }

    @Test(arguments: [nil, "/etc/mine"]) func settingsOfPHPComeBehindThoseOfBefore(folders: String?) async throws {
        let before = folders.map { ["PHP_INI_SCAN_DIR": $0] } ?? [:]
        let exports = try exported(before)
        let value = try #require(exports["PHP_INI_SCAN_DIR"])
        #expect(value.hasPrefix((folders ?? "") + ":/"))
        let folder = value.split(separator: ":").last.map(String.init) ?? ""
        let settings = try #require(BoundedFile.text(folder + "/layover.ini"))
        let bundle = try #require(exports["CURL_CA_BUNDLE"])
        #expect(settings.contains("curl.cainfo = \"\(bundle)\"\n"))
        #expect(settings.contains("openssl.cafile = \"\(bundle)\"\n"))
        #expect(try exported(before.merging(exports) { $1 })["PHP_INI_SCAN_DIR"] == value)
    }

    @Test func settingsOfWgetStayAndItsAuthorityToo() async throws {
        let other = try await Certificate.fixture()
        let file = try home.write(other.pem, to: "other.pem")
        try home.write("tries = 3\nCA-Certificate = \(file)", to: ".wgetrc")
        let settings = try #require(try exported()["WGETRC"].flatMap(BoundedFile.text))
        #expect(settings.contains("\ntries = 3\n"))
        #expect(certificates(SettingsFile.value("ca_certificate", in: settings)).contains(other.der))
        #expect(certificates(SettingsFile.value("ca_certificate", in: settings)).contains(authority.der))
    }

    /// The settings of wget may contain a password.
    @Test(arguments: [(0o600, 0o600), (0o640, 0o640), (0o644, 0o644), (0o444, 0o644)])
    func settingsOfWgetAreReadByThoseWhoMayReadThem(mode: Int, expected: Int) async throws {
        let file = try home.write("http_password = secret\n", to: ".wgetrc")
        // The second run finds the file of the first.
        for (mode, expected) in [(0o644, 0o644), (mode, expected)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            let copy = try #require(try exported()["WGETRC"])
            #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == expected)
        }
    }

    @Test func theAuthorityInNpmsSettingsStays() async throws {
        let other = try await Certificate.fixture()
        let file = try home.write(other.pem, to: "other.pem")
        try home.write("registry=https://npm.test/\ncafile=\(file)\n", to: ".npmrc")
        let exports = try exported()
        #expect(certificates(exports["npm_config_cafile"]).contains(other.der))
        #expect(!certificates(exports["SSL_CERT_FILE"]).contains(other.der))
    }

    @Test func theAuthorityInGitsSettingsStays() async throws {
        let other = try await Certificate.fixture()
        let file = try home.write(other.pem, to: "other.pem")
        try home.write("[http]\n\tsslCAInfo = \(file)\n", to: ".gitconfig")
        #expect(certificates(try exported()["GIT_SSL_CAINFO"]).contains(other.der))
    }

    @Test func settingsOfAptThatTheUserNamesStay() async throws {
        #expect(try exported(["APT_CONFIG": "/mine"])["APT_CONFIG"] == nil)
        let text = try #require(try exported()["APT_CONFIG"].flatMap(BoundedFile.text))
        #expect(text.contains("Acquire::https::CAInfo \"\(clients)/bundle.pem\";"))
    }

    @Test func filesAreReadableByAllAndWrittenOnlyWhenTheyChange() async throws {
        let path = try #require(try exported()["SSL_CERT_FILE"])
        func facts() throws -> (mode: Int, number: Int) {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            return (try #require(facts[.posixPermissions] as? Int), try #require(facts[.systemFileNumber] as? Int))
        }
        let first = try facts()
        _ = try exported()
        #expect(first.mode == 0o644)
        #expect(try facts().number == first.number)
        try home.write("damaged", to: "clients/bundle.pem")
        _ = try exported()
        #expect(certificates(path).contains(authority.der))
    }

    private func writeManyFiles() throws {
        for number in 0..<30 {
            let other = try home.write("", to: "other-\(number)")
            _ = try exported(["SSL_CERT_FILE": other, "NODE_EXTRA_CA_CERTS": other, "PIP_CERT": "/other-\(number)"])
        }
    }

    /// Programs that were started side by side, each with an environment of its own, still read them.
    @Test func recentGeneratedFilesAreNotRemoved() async throws {
        let first = try exported(["SSL_CERT_FILE": try home.write("", to: "first")])["SSL_CERT_FILE"] ?? ""
        try writeManyFiles()
        #expect(FileManager.default.fileExists(atPath: first))
    }

    @Test func oldGeneratedFilesAreLimited() async throws {
        try writeManyFiles()
        let long = Date(timeIntervalSinceNow: -Double(GeneratedFiles.ageMax) - 60)
        for name in try FileManager.default.contentsOfDirectory(atPath: clients) {
            try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: "\(clients)/\(name)")
        }
        _ = try exported()
        let names = try FileManager.default.contentsOfDirectory(atPath: clients)
        #expect(names.count <= GeneratedFiles.countMax)
    }

    @Test func aFolderThatCannotBeWrittenIsAnErrorThatNamesIt() async throws {
        try home.write("", to: "clients")
        #expect { try exported() } throws: { ($0 as? TrustError)?.message.contains(clients) == true }
    }

    @Test(.enabled(if: ToolRun.find("keytool", environment: ["PATH": "/usr/bin"]) != nil, "needs Java"))
    func theStoreThatJavaWasToldOfStaysTrusted() async throws {
        let other = try await Certificate.fixture()
        let file = try home.write(other.pem, to: "other.pem")
        let store = home.file("mine.jks").path
        try await Command(
            "keytool",
            [
                "-importcert", "-noprompt", "-alias", "other", "-file", file, "-keystore", store, "-storepass", "secret1", "-storetype",
                "JKS",
            ]
        ).succeed()
        let options = "-Djavax.net.ssl.trustStore=\(store) -Djavax.net.ssl.trustStorePassword=secret1"
        let set = ["PATH": "/usr/bin", "JAVA_TOOL_OPTIONS": options]
        let value = try #require(try exported(set)["JAVA_TOOL_OPTIONS"])
        let made = try #require(JavaOptions.property("javax.net.ssl.trustStore", in: value))
        #expect(value.hasPrefix(options))
        #expect(BoundedFile.contents(made) == JavaTrustStoreFile.bytes([other.der, authority.der]))
    }
}
