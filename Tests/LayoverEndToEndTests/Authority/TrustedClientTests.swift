import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Real clients after `eval "$(layover env --ca)"`: each fetches from a host that shows a certificate of Layover's authority, and
    /// from one that shows that of an authority which was trusted before.
    @Suite struct TrustedClients {
        /// Name, program whose absence skips it, and the words, with `URL` for the origin and `HOME` for an empty folder.
        struct Client: Sendable, CustomTestStringConvertible {
            var name: String
            var program: String
            var script: String
            var testDescription: String { name }
        }

        static let clients = [
            Client(name: "curl", program: "curl", script: "curl --silent --show-error --fail URL/echo"),
            Client(name: "wget", program: "wget", script: "wget --quiet --tries=1 --output-document=- URL/echo"),
            Client(name: "git", program: "git", script: "git ls-remote URL/git/demo.git | grep refs/heads/main"),
            Client(
                name: "urllib", program: "python3",
                script: #"/usr/bin/python3 -c "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).status)" URL/echo"#),
            Client(
                name: "requests", program: "python3",
                script: #"/usr/bin/python3 -c "import sys, requests; print(requests.get(sys.argv[1]).status_code)" URL/echo"#),
            Client(
                name: "pip", program: "python3", script: """
                    /usr/bin/python3 -m pip download --quiet --retries 0 --no-deps --no-cache-dir --disable-pip-version-check \
                    --index-url URL/simple/ --dest "$HOME/wheels" layover-demo
                    """),
            Client(
                name: "Node", program: "node", script: """
                    node -e "require('https').get(process.argv[1], answer => process.exit(answer.statusCode == 200 ? 0 : 1))" URL/echo
                    """),
            Client(name: "apt", program: "apt-get", script: """
                set -e; mkdir -p "$HOME/apt/lists/partial" "$HOME/apt/archives/partial" "$HOME/apt/empty"; : > "$HOME/apt/status"
                echo "deb [trusted=yes] URL/apt/ ./" > "$HOME/apt/sources"
                apt-get -o Acquire::Retries=0 -o Dir::State="$HOME/apt" -o Dir::State::lists="$HOME/apt/lists" -o Dir::Cache="$HOME/apt" \
                    -o Dir::State::status="$HOME/apt/status" -o Dir::Etc::sourcelist="$HOME/apt/sources" \
                    -o Dir::Etc::sourceparts="$HOME/apt/empty" -o Dir::Etc::preferencesparts="$HOME/apt/empty" \
                    -o APT::Update::Error-Mode=any update
                """),
            Client(name: "cargo", program: "cargo", script: """
                set -e; rm -rf "$HOME/index" "$HOME/.cargo"; mkdir -p "$HOME/index"; cd "$HOME/index"; git init --quiet
                echo '{"dl":"URL/","api":"URL"}' > config.json; git add config.json
                git -c user.name=a -c user.email=a@b.test commit --quiet --message index
                cargo search --index "file://$HOME/index" demo
                """),
            Client(name: "Java", program: "javac", script: #"java "$HOME/Fetch.java" URL/echo"#),
        ]

        /// Fetches, and ends with 0 for a 200.
        static let javaProgram = """
            import java.net.URI;
            import java.net.http.*;
            public class Fetch {
                public static void main(String[] words) throws Exception {
                    var request = HttpRequest.newBuilder(URI.create(words[0])).build();
                    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
                    System.exit(answer.statusCode() == 200 ? 0 : 1);
                }
            }
            """

        @Test(arguments: clients)
        func eachFetchesFromBothHosts(client: Client) async throws {
            // Where it is not installed, `make test-browser` and `make test-reach` tell.
            guard try await Command("/bin/sh", ["-c", "command -v \(client.program)"]).run().status == 0 else { return }
            let scene = try await AuthorityScene()
            let root = try await served(by: scene)
            let own = try await scene.startOrigin()
            let files = try TemporaryFolder()
            let other = try await TestAuthority(in: files)
            let foreign = try await RunningOrigin.start(in: root, identity: other.identity)
            let before = ["SSL_CERT_FILE=\(other.certificate)", "NODE_EXTRA_CA_CERTS=\(other.certificate)"]
                + (client.name == "Java" ? [try await javaOptions(trusting: other.certificate, in: files)] : [])
                + (client.name == "cargo" ? cargoHome() : [])
            for origin in [own, foreign] {
                let script = client.script.replacing("URL", with: "https://localhost:\(origin.port)")
                let result = try await scene.client(["/bin/sh", "-c", script], before: before).run()
                #expect(result.status == 0 && !origin.records.isEmpty, "\(origin === own ? "own" : "other"): \(result)")
            }
        }

        /// The tests can fail: without the variables, nobody trusts the authority.
        @Test func withoutTheVariablesTheAuthorityIsNotTrusted() async throws {
            let scene = try await AuthorityScene()
            let origin = try await scene.startOrigin()
            let result = try await scene.shell("curl --silent --show-error https://localhost:\(origin.port)/echo").run()
            #expect(result.status == 60, "\(result)")
            #expect(origin.records.isEmpty)
        }

        private func served(by scene: AuthorityScene) async throws -> TemporaryFolder {
            let root = scene.root
            try await Command(Fixtures.path("make_wheel.py"), [root.url.path]).succeed()
            try await Command(Fixtures.path("make_apt_repository.sh"), [root.url.path]).succeed()
            try await Command("/bin/sh", ["-c", """
                set -e; cd "$0"; git init --quiet --bare git/demo.git; git init --quiet work; cd work; echo note > note; git add note
                git -c user.name=a -c user.email=a@b.test commit --quiet --message first; git push --quiet ../git/demo.git HEAD:refs/heads/main
                """, root.url.path]).succeed()
            try root.write(#"{"crates":[],"meta":{"total":0}}"#, to: "api/v1/crates")
            try scene.home.write(Self.javaProgram, to: "Fetch.java")
            return root
        }

        private func javaOptions(trusting certificate: String, in files: TemporaryFolder) async throws -> String {
            let store = files.file("before.p12").path
            try await Command("keytool", [
                "-importcert", "-noprompt", "-alias", "other", "-file", certificate, "-keystore", store, "-storepass", "changeit",
            ]).succeed()
            return "JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore=\(store)"
        }

        /// A cargo of rustup's is a link to a program that looks for the tool chain of its user.
        private func cargoHome() -> [String] {
            let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            return ["PATH=\(path)", "RUSTUP_HOME=\(ProcessInfo.processInfo.environment["RUSTUP_HOME"] ?? home + "/.rustup")"]
        }
    }
}
