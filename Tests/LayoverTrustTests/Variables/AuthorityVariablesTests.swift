import Foundation
import LayoverTLS
import LayoverTestSupport
import Testing

@testable import LayoverTrust

struct AuthorityVariablesTests {
    /// A home folder without anything, and an authority.
    private struct Scene {
        let home: TemporaryFolder
        let authority: Certificate
        var variables: AuthorityVariables { AuthorityVariables(authority: authority, files: GeneratedFiles(folder: clients)) }
        var clients: String { home.file("clients").path }
        /// No Java: its half second would be all that these tests wait for.
        var empty: [String: String] { ["HOME": home.url.path, "PATH": "/nowhere", "JAVA_HOME": "/nowhere"] }

        init() async throws {
            home = try TemporaryFolder()
            authority = try await .fixture()
        }

        func exports(_ set: [String: String] = [:]) throws -> [String: String] {
            let list = try variables.exports(over: empty.merging(set) { $1 }, proxyURL: "http://127.0.0.1:8080")
            return Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0.value) })
        }

        func certificates(_ path: String?) -> [[UInt8]] { path.flatMap(BoundedFile.certificates) ?? [] }
    }

    private static let adding = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"]
    private static let replacing = AuthorityVariable.all.map(\.name).filter { !adding.contains($0) }

    @Test func aVariableThatAddsNamesTheAuthorityAlone() async throws {
        let scene = try await Scene()
        let exports = try scene.exports()
        for name in Self.adding { #expect(scene.certificates(exports[name]) == [scene.authority.der]) }
    }

    @Test func aVariableThatReplacesNamesTheSystemsAuthoritiesToo() async throws {
        let scene = try await Scene()
        let exports = try scene.exports()
        let system = SystemBundle.certificates()
        #expect(system.count > 50)
        for name in Self.replacing {
            let found = scene.certificates(exports[name])
            #expect(found.last == scene.authority.der && Set(found).isSuperset(of: system), "\(name)")
        }
        // No variable was set, so one file is enough for all of them.
        #expect(Set(Self.replacing.map { exports[$0] }).count == 1)
    }

    @Test(arguments: AuthorityVariable.all.map(\.name))
    func certificatesOfTheFormerFileStayTrusted(name: String) async throws {
        let scene = try await Scene()
        let other = try await Certificate.fixture()
        let file = try scene.home.write(other.pem, to: "other.pem")
        let found = scene.certificates(try scene.exports([name: file])[name])
        #expect(found.contains(other.der) && found.contains(scene.authority.der))
    }

    /// requests falls back on curl's variable, and curl on OpenSSL's: these certificates stay trusted.
    @Test func certificatesOfFallbackVariablesStayTrusted() async throws {
        let scene = try await Scene()
        let (corporate, curls) = (try await Certificate.fixture(), try await Certificate.fixture())
        let exports = try scene.exports([
            "SSL_CERT_FILE": try scene.home.write(corporate.pem, to: "corporate.pem"),
            "CURL_CA_BUNDLE": try scene.home.write(curls.pem, to: "curl.pem"),
        ])
        #expect(scene.certificates(exports["GIT_SSL_CAINFO"]).contains(corporate.der))
        #expect(scene.certificates(exports["REQUESTS_CA_BUNDLE"]).contains(curls.der))
        #expect(!scene.certificates(exports["GIT_SSL_CAINFO"]).contains(curls.der))
        #expect(scene.certificates(exports["NODE_EXTRA_CA_CERTS"]) == [scene.authority.der])
    }

    @Test func aFolderOfCertificatesIsRead() async throws {
        let scene = try await Scene()
        let other = try await Certificate.fixture()
        try scene.home.write(other.pem, to: "certs/other.pem")
        let exports = try scene.exports(["REQUESTS_CA_BUNDLE": scene.home.file("certs").path])
        #expect(scene.certificates(exports["REQUESTS_CA_BUNDLE"]).contains(other.der))
    }

    @Test func aSecondTimeGivesTheSame() async throws {
        let scene = try await Scene()
        let other = try scene.home.write(try await Certificate.fixture().pem, to: "other.pem")
        let before = ["SSL_CERT_FILE": other, "NODE_EXTRA_CA_CERTS": other, "JAVA_TOOL_OPTIONS": "-Xmx1g"]
        let once = try scene.exports(before)
        #expect(try scene.exports(before.merging(once) { $1 }) == once)
        // `APT_CONFIG` is ours in the second environment.
        #expect(once["APT_CONFIG"] != nil)
    }

    @Test func takingBackGivesTheEnvironmentOfBefore() async throws {
        let scene = try await Scene()
        let other = try scene.home.write(try await Certificate.fixture().pem, to: "other.pem")
        let wgetrc = try scene.home.write("tries = 3\n", to: "wgetrc")
        let before = scene.empty.merging([
            "SSL_CERT_FILE": other, "NODE_EXTRA_CA_CERTS": other, "WGETRC": wgetrc, "JAVA_TOOL_OPTIONS": "-Xmx1g",
            "PIP_CERT": "/absent.pem",
            "PHP_INI_SCAN_DIR": "/etc/mine:/etc/other",
        ]) { $1 }
        let exports = try scene.exports(before)
        #expect(exports["CURL_CA_BUNDLE"] != nil)
        #expect(AuthorityVariables.restored(before.merging(exports) { $1 }) == before)
    }

    @Test func variablesOfTheUserAreNotTakenBack() async throws {
        let other = try TemporaryFolder().write(try await Certificate.fixture().pem, to: "other.pem")
        #expect(AuthorityVariables.changes(takingBack: ["SSL_CERT_FILE": other, "PIP_CERT": "/absent", "WGETRC": "/dev/zero"]).isEmpty)
    }

    @Test func anotherAuthorityTakesThePlaceOfTheFirst() async throws {
        let scene = try await Scene()
        let first = try scene.exports()
        let next = AuthorityVariables(authority: try await .fixture(), files: GeneratedFiles(folder: scene.clients))
        let list = try next.exports(over: scene.empty.merging(first) { $1 }, proxyURL: "http://127.0.0.1:8080")
        let second = Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0.value) })
        // In the same files: programs that run already find it.
        #expect(second == first)
        #expect(!scene.certificates(second["SSL_CERT_FILE"]).contains(scene.authority.der))
        #expect(scene.certificates(second["NODE_EXTRA_CA_CERTS"]).count == 1)
    }

    @Test(arguments: [nil, "/etc/mine"]) func settingsOfPHPComeBehindThoseOfBefore(folders: String?) async throws {
        let scene = try await Scene()
        let before = folders.map { ["PHP_INI_SCAN_DIR": $0] } ?? [:]
        let exports = try scene.exports(before)
        let value = try #require(exports["PHP_INI_SCAN_DIR"])
        #expect(value.hasPrefix((folders ?? "") + ":/"))
        let folder = value.split(separator: ":").last.map(String.init) ?? ""
        let settings = try #require(BoundedFile.text(folder + "/layover.ini"))
        let bundle = try #require(exports["CURL_CA_BUNDLE"])
        #expect(settings.contains("curl.cainfo = \"\(bundle)\"\n"))
        #expect(settings.contains("openssl.cafile = \"\(bundle)\"\n"))
        #expect(try scene.exports(before.merging(exports) { $1 })["PHP_INI_SCAN_DIR"] == value)
    }

    @Test func settingsOfWgetStayAndItsAuthorityToo() async throws {
        let scene = try await Scene()
        let other = try await Certificate.fixture()
        let file = try scene.home.write(other.pem, to: "other.pem")
        try scene.home.write("tries = 3\nCA-Certificate = \(file)", to: ".wgetrc")
        let settings = try #require(try scene.exports()["WGETRC"].flatMap(BoundedFile.text))
        #expect(settings.contains("\ntries = 3\n"))
        #expect(scene.certificates(SettingsFile.value("ca_certificate", in: settings)).contains(other.der))
        #expect(scene.certificates(SettingsFile.value("ca_certificate", in: settings)).contains(scene.authority.der))
    }

    /// The settings of wget may contain a password.
    @Test(arguments: [(0o600, 0o600), (0o640, 0o640), (0o644, 0o644), (0o444, 0o644)])
    func settingsOfWgetAreReadByThoseWhoMayReadThem(mode: Int, expected: Int) async throws {
        let scene = try await Scene()
        let file = try scene.home.write("http_password = secret\n", to: ".wgetrc")
        // The second run finds the file of the first.
        for (mode, expected) in [(0o644, 0o644), (mode, expected)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            let copy = try #require(try scene.exports()["WGETRC"])
            #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == expected)
        }
    }

    @Test func theAuthorityInNpmsSettingsStays() async throws {
        let scene = try await Scene()
        let other = try await Certificate.fixture()
        let file = try scene.home.write(other.pem, to: "other.pem")
        try scene.home.write("registry=https://npm.test/\ncafile=\(file)\n", to: ".npmrc")
        let exports = try scene.exports()
        #expect(scene.certificates(exports["npm_config_cafile"]).contains(other.der))
        #expect(!scene.certificates(exports["SSL_CERT_FILE"]).contains(other.der))
    }

    @Test func theAuthorityInGitsSettingsStays() async throws {
        let scene = try await Scene()
        let other = try await Certificate.fixture()
        let file = try scene.home.write(other.pem, to: "other.pem")
        try scene.home.write("[http]\n\tsslCAInfo = \(file)\n", to: ".gitconfig")
        #expect(scene.certificates(try scene.exports()["GIT_SSL_CAINFO"]).contains(other.der))
    }

    @Test func settingsOfAptThatTheUserNamesStay() async throws {
        let scene = try await Scene()
        #expect(try scene.exports(["APT_CONFIG": "/mine"])["APT_CONFIG"] == nil)
        let text = try #require(try scene.exports()["APT_CONFIG"].flatMap(BoundedFile.text))
        #expect(text.contains("Acquire::https::CAInfo \"\(scene.clients)/bundle.pem\";"))
    }

    @Test func filesAreReadableByAllAndWrittenOnlyWhenTheyChange() async throws {
        let scene = try await Scene()
        let path = try #require(try scene.exports()["SSL_CERT_FILE"])
        func facts() throws -> (mode: Int, number: Int) {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            return (try #require(facts[.posixPermissions] as? Int), try #require(facts[.systemFileNumber] as? Int))
        }
        let first = try facts()
        _ = try scene.exports()
        #expect(first.mode == 0o644)
        #expect(try facts().number == first.number)
        try scene.home.write("damaged", to: "clients/bundle.pem")
        _ = try scene.exports()
        #expect(scene.certificates(path).contains(scene.authority.der))
    }

    private func writeManyFiles(_ scene: Scene) throws {
        for number in 0..<30 {
            let other = try scene.home.write("", to: "other-\(number)")
            _ = try scene.exports(["SSL_CERT_FILE": other, "NODE_EXTRA_CA_CERTS": other, "PIP_CERT": "/other-\(number)"])
        }
    }

    /// Programs that were started side by side, each with an environment of its own, still read them.
    @Test func recentGeneratedFilesAreNotRemoved() async throws {
        let scene = try await Scene()
        let first = try scene.exports(["SSL_CERT_FILE": try scene.home.write("", to: "first")])["SSL_CERT_FILE"] ?? ""
        try writeManyFiles(scene)
        #expect(FileManager.default.fileExists(atPath: first))
    }

    @Test func oldGeneratedFilesAreLimited() async throws {
        let scene = try await Scene()
        try writeManyFiles(scene)
        let long = Date(timeIntervalSinceNow: -Double(GeneratedFiles.ageMax) - 60)
        for name in try FileManager.default.contentsOfDirectory(atPath: scene.clients) {
            try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: "\(scene.clients)/\(name)")
        }
        _ = try scene.exports()
        let names = try FileManager.default.contentsOfDirectory(atPath: scene.clients)
        #expect(names.count <= GeneratedFiles.countMax)
    }

    @Test func aFolderThatCannotBeWrittenIsAnErrorThatNamesIt() async throws {
        let scene = try await Scene()
        try scene.home.write("", to: "clients")
        #expect { try scene.exports() } throws: { ($0 as? TrustError)?.message.contains(scene.clients) == true }
    }

    @Test(.enabled(if: ToolRun.find("keytool", environment: ["PATH": "/usr/bin"]) != nil, "needs Java"))
    func theStoreThatJavaWasToldOfStaysTrusted() async throws {
        let scene = try await Scene()
        let other = try await Certificate.fixture()
        let file = try scene.home.write(other.pem, to: "other.pem")
        let store = scene.home.file("mine.jks").path
        try await Command(
            "keytool",
            [
                "-importcert", "-noprompt", "-alias", "other", "-file", file, "-keystore", store, "-storepass", "secret1", "-storetype",
                "JKS",
            ]
        ).succeed()
        let options = "-Djavax.net.ssl.trustStore=\(store) -Djavax.net.ssl.trustStorePassword=secret1"
        let set = ["PATH": "/usr/bin", "JAVA_TOOL_OPTIONS": options]
        let value = try #require(try scene.exports(set)["JAVA_TOOL_OPTIONS"])
        let made = try #require(JavaOptions.property("javax.net.ssl.trustStore", in: value))
        #expect(value.hasPrefix(options))
        #expect(BoundedFile.contents(made) == JavaTrustStoreFile.bytes([other.der, scene.authority.der]))
    }
}
