import Foundation
import Glibc
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// `layover ca trust` and `untrust` with the programs that read the stores.
    @Suite struct TrustStores {
        /// In a mount namespace with copies of the folders, so that the machine stays as it is.
        @Test(.enabled(if: getuid() == 0, "needs root"))
        func theSystemTrustsTheAuthorityUntilItIsTakenBack() async throws {
            let scene = try await AuthorityScene()
            let origin = try await scene.startOrigin()
            let script = """
                set -eu
                export PATH="/usr/sbin:$PATH"
                cd "$HOME"; mkdir certs local hooks
                cp -a /etc/ssl/certs/. certs
                mount --bind certs /etc/ssl/certs; mount --bind hooks /etc/ca-certificates/update.d
                [ -d /usr/local/share/ca-certificates ] && mount --bind local /usr/local/share/ca-certificates
                list() { find /etc/ssl/certs /usr/local/share/ca-certificates ! -path '*/java/*' | sort; sha256sum /etc/ssl/certs/ca-certificates.crt; }
                fetch() { curl --silent --show-error --output /dev/null https://localhost:\(origin.port)/echo; echo "curl $?"; }
                update-ca-certificates --fresh > /dev/null 2>&1
                list > before; set +e
                fetch
                "$0" ca trust --store system; echo "trust $?"
                fetch
                "$0" ca trust --store system; echo "again $?"
                "$0" ca untrust --store system; echo "untrust $?"
                fetch
                list > after
                cmp before after; echo "same $?"
                """
            var command = scene.shell(script)
            command = Command("/usr/bin/unshare", ["--mount", "--propagation", "private", command.executable] + command.arguments)
            let output = try await command.succeed().output
            let facts = output.split(separator: "\n").filter { $0.contains(#/^(curl|trust|again|untrust|same) \d+$/#) }
            #expect(facts == ["curl 60", "trust 0", "curl 0", "again 0", "untrust 0", "curl 60", "same 0"], "\(output)")
            #expect(output.contains("trusted now") && output.contains("trusted already") && output.contains("removed"), "\(output)")
        }

        /// A Java with a store of its own, beside that of Debian's, which the mount namespace has a copy of. Java is installed for
        /// `make test-browser` and, with its compiler, for `make test-reach`. It starts some twenty times, which takes a busy machine over a minute.
        @Test(.enabled(if: getuid() == 0 && access("/usr/bin/keytool", X_OK) == 0, "needs root and Java"))
        func javaTrustsTheAuthorityUntilItIsTakenBack() async throws {
            let scene = try await AuthorityScene()
            let origin = try await scene.startOrigin()
            let hasCompiler = access("/usr/bin/javac", X_OK) == 0
            try scene.home.write(TrustedClients.javaProgram, to: "Fetch.java")
            let script = """
                set -eu
                cd "$HOME"; mkdir -p certs java/bin java/lib/security
                cp -a /etc/ssl/certs/. certs; mount --bind certs /etc/ssl/certs
                real=$(dirname "$(dirname "$(readlink -f /usr/bin/keytool)")")
                ln -s "$real/bin/keytool" java/bin/keytool
                cp -L "$real/lib/security/cacerts" java/lib/security/cacerts
                export JAVA_HOME="$HOME/java"
                own="$JAVA_HOME/lib/security/cacerts"
                list() { for store in "$own" /etc/ssl/certs/java/cacerts; do keytool -list -keystore "$store" -storepass changeit; done; }
                count() { echo "entries $(list | grep -c '^layover-')"; }
                fetch() { \(hasCompiler ? #"java -Djavax.net.ssl.trustStore="$own" Fetch.java https://localhost:\#(origin.port)/echo; echo "java $?""# : ":"); }
                list > before 2> /dev/null; set +e
                fetch
                "$0" ca trust --store java; echo "trust $?"
                count; fetch
                "$0" ca trust --store java; echo "again $?"
                count
                "$0" ca untrust --store java; echo "untrust $?"
                fetch
                list > after 2> /dev/null
                cmp before after; echo "same $?"
                """
            let command = scene.shell(script)
            let output = try await Command(
                "/usr/bin/unshare", ["--mount", "--propagation", "private", command.executable] + command.arguments
            )
            .succeed(within: .seconds(300)).output
            let facts = output.split(separator: "\n").filter { $0.contains(#/^(java|trust|again|untrust|same|entries) \d+$/#) }
            let expected = [
                "java 1", "trust 0", "entries 2", "java 0", "again 0", "entries 2", "untrust 0", "java 1", "same 0",
            ]
            #expect(facts.map(String.init) == expected.filter { hasCompiler || !$0.hasPrefix("java") }, "\(output)")
            #expect(output.contains("trusted now") && output.contains("trusted already") && output.contains("removed"), "\(output)")
        }

        /// Chromium 146 and later use the older place if it is there, whatever is in the newer one.
        @Test(arguments: [false, true])
        func chromiumTrustsTheAuthorityUntilItIsTakenBack(bothPlaces: Bool) async throws {
            let scene = try await AuthorityScene()
            let origin = try await scene.startOrigin()
            let (older, newer) = (scene.home.file(".pki/nssdb").path, scene.home.file(".local/share/pki/nssdb").path)
            for place in bothPlaces ? [older, newer] : [] { try await makeDatabase(place) }
            #expect(try await !chromium(scene, loads: origin, "/echo?before"))

            let first = try await scene.command("ca", "trust", "--store", "nss").succeed().output
            #expect(first.contains("nss \(newer)") && first.contains("nss \(older)") == bothPlaces, "\(first)")
            #expect(try await chromium(scene, loads: origin, "/echo?trusted"))
            let second = try await scene.command("ca", "trust", "--store", "nss").succeed().output
            #expect(second.contains("trusted already") && !second.contains("trusted now"), "\(second)")

            try await scene.command("ca", "untrust", "--store", "nss").succeed()
            #expect(try await !chromium(scene, loads: origin, "/echo?after"))
        }

        /// Firefox is installed for `make test-browser`.
        @Test(.enabled(if: access("/usr/bin/firefox-esr", X_OK) == 0, "needs firefox-esr"))
        func firefoxTrustsTheAuthorityUntilItIsTakenBack() async throws {
            let scene = try await AuthorityScene()
            let origin = try await scene.startOrigin()
            let profile = scene.home.file(".mozilla/firefox/test.default").path
            try await makeDatabase(profile)
            try scene.home.write(
                #"user_pref("browser.shell.checkDefaultBrowser", false); user_pref("datareporting.policy.dataSubmissionEnabled", false);"#,
                to: ".mozilla/firefox/test.default/user.js")

            #expect(try await firefox(scene, profile, loads: origin) == "rejected")
            let first = try await scene.command("ca", "trust", "--store", "nss").succeed().output
            #expect(first.contains("nss \(profile)"), "\(first)")
            #expect(try await firefox(scene, profile, loads: origin) == "trusted")
            try await scene.command("ca", "untrust", "--store", "nss").succeed()
            #expect(try await firefox(scene, profile, loads: origin) == "rejected")
        }

        private func makeDatabase(_ place: String) async throws {
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            try await Command("certutil", ["-N", "-d", "sql:\(place)", "--empty-password"]).succeed()
        }

        /// True if the request arrived: a browser that rejects the certificate sends none.
        private func chromium(_ scene: AuthorityScene, loads origin: RunningOrigin, _ path: String) async throws -> Bool {
            let words =
                "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking --dump-dom"
            try await scene.shell("exec chromium \(words) https://localhost:\(origin.port)\(path)").succeed()
            return origin.records.contains { $0.target == path }
        }

        /// A page fetches from the origin and reports to another one what became of it.
        private func firefox(_ scene: AuthorityScene, _ profile: String, loads origin: RunningOrigin) async throws -> String {
            let witness = try await RunningOrigin.start(in: scene.root)
            let page = try scene.home.write(
                """
                <script>
                const report = word => { new Image().src = 'http://127.0.0.1:\(witness.port)/' + word; };
                fetch('https://localhost:\(origin.port)/echo', {mode: 'no-cors'}).then(() => report('trusted'), () => report('rejected'));
                </script>
                """, to: "page.html")
            let browser = try scene.shell("exec firefox-esr --headless --no-remote --profile '\(profile)' 'file://\(page)'").start()
            let record = try await witness.waitForRecord("Firefox reports") { ["/trusted", "/rejected"].contains($0.target) }
            // The runner of the tests may block SIGTERM, and a signal mask is inherited.
            browser.signal(SIGKILL)
            _ = await browser.result()
            return String(record.target.dropFirst())
        }
    }
}
