import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Programs that take the base URL of a route, by the variables that `layover env --route` prints.
    @Suite struct BaseURLTools {
        private static let session = """
            import os, sys, requests
            session = requests.Session()
            base = os.environ["LAYOVER_ROUTE_URL"]
            account = session.get(base + "/login")
            print(account.url == base + "/account", account.json())
            print(session.get(account.links["next"]["url"]).json())
            """

        /// A login with a redirection, a `Secure` cookie and a `Link`, all in absolute addresses of the origin.
        @Test(arguments: ["open", "keyed"]) func aSessionStaysInsideTheRoute(route: String) async throws {
            let scene = try await Self.scene()
            let variables = try await scene.variables(of: route)
            let result = try await Command("/usr/bin/python3", ["-c", Self.session]).with(variables).run()

            #expect(result.output == "True {'known': True}\n{'known': True}\n", "\(result)")
            #expect(scene.requests == ["GET /login", "GET /account", "GET /account?page=2"])
        }

        @Test(arguments: ["open", "keyed"]) func pipInstallsByTheRoute(route: String) async throws {
            let scene = try await Self.scene()
            let variables = try await scene.variables(of: route, for: "python")
            let target = scene.folder.file("installed")
            let result = try await Command(
                "/usr/bin/python3",
                [
                    "-m", "pip", "install", "--quiet", "--retries", "0", "--no-deps", "--no-cache-dir", "--disable-pip-version-check",
                    "--target", target.path, "layover-demo",
                ]
            ).with(variables).run()

            #expect(result.status == 0, "\(result)")
            #expect(FileManager.default.fileExists(atPath: target.path + "/layover_demo/__init__.py"))
            #expect(scene.requests.contains("GET /simple/layover-demo/"))
        }

        @Test func sdksTakeTheirVariables() async throws {
            let tools = try await Command(Fixtures.script("python-tools.sh"), ["sdks"]).run(within: .seconds(120))
            try #require(tools.status == 0, "the SDKs are not installed: \(tools.errors)")
            let python = tools.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let scene = try await Self.scene()
            var variables = ["PATH": "\(python)/bin:/usr/bin:/bin"]
            for family in ["openai", "anthropic", "aws", "python"] {
                variables.merge(try await scene.variables(of: "keyed", for: family)) { $1 }
            }
            let work = try TemporaryFolder()
            var command = Command("\(python)/bin/python", ["-B", Fixtures.path("sdks/try.py"), "parcels"]).with(variables)
            command.folder = work.url
            let result = try await command.run()

            #expect(
                result.output == "openai it arrived\nstream it arrived\nanthropic it arrived\nboto3 it arrived\nuv it arrived\n",
                "\(result)")
        }

        // MARK: The origin

        private struct Place {
            let layover: RunningLayover
            let folder: TemporaryFolder
            let origin: RunningProcess

            /// Requests that the origin received: method and target.
            var requests: [String] {
                let log = (try? String(contentsOf: folder.file("log"), encoding: .utf8)) ?? ""
                return log.split(separator: "\n").map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
            }

            /// As `env --route` prints them.
            func variables(of route: String, for family: String? = nil) async throws -> [String: String] {
                let arguments = ["env", "--shell", "sh", "--route", route] + (family.map { ["--for", $0] } ?? [])
                let result = try await Command(RunningLayover.binary, arguments)
                    .with(["LAYOVER_ADMIN_URL": layover.adminURL, "LAYOVER_ROUTE_KEY": "k3y"]).run()
                #expect(result.status == 0, "\(result)")
                var variables: [String: String] = [:]
                for line in result.output.split(separator: "\n") {
                    guard let found = line.wholeMatch(of: /export (\w+)='(.*)'/) else { throw ProcessError("no variable: \(line)") }
                    variables[String(found.1)] = String(found.2)
                }
                return variables
            }
        }

        private static func scene() async throws -> Place {
            let folder = try TemporaryFolder()
            try await Command(Fixtures.path("make_wheel.py"), [folder.url.path]).succeed()
            let portFile = folder.file("port")
            let origin = try Command(
                "/usr/bin/python3", ["-B", Fixtures.path("sdk_origin.py"), portFile.path, folder.file("log").path, folder.url.path]
            ).start(in: folder)
            let port = try await FolderWatch(folder.url).first("the origin listens") {
                if origin.hasEnded { throw ProcessError("The origin ended: \(origin.errors)") }
                return Int((try? String(contentsOf: portFile, encoding: .utf8)) ?? "")
            }
            let layover = try await RunningLayover.start(
                #"{"routes":{"open":{"upstream":"http://127.0.0.1:\#(port)"},"keyed":{"upstream":"http://127.0.0.1:\#(port)","key":"k3y"}}}"#
            )
            return Place(layover: layover, folder: folder, origin: origin)
        }
    }
}
