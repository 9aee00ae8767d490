import Foundation
import Glibc
import LayoverTestSupport
import Testing

extension EndToEnd {
    @Suite struct StartAndStop {
        @Test func logNamesWhatDelaysTheStop() async throws {
            let (scene, origin) = try await Scene.withOrigin(#"{"timeouts":{"drain":"60s"}}"#)
            let client = try scene.layover.curl("--output", "/dev/null", scene.url("/stalled/500000")).start()
            _ = try await origin.waitForRecord("the response has begun") { $0.target.hasPrefix("/stalled") }
            scene.layover.process.signal(SIGTERM)
            let folder = FolderWatch(scene.layover.folder.url)
            let line = try await folder.first("the progress") {
                scene.layover.process.errors.split(separator: "\n").first { $0.contains("waiting for what is under way") }.map(String.init)
            }
            #expect(line.contains(#""connections":"1""#) && line.contains(#""limit":"60.0 seconds""#), "\(line)")
            // The same again does not wait.
            let ended = await scene.layover.stop()
            #expect(ended.status != 0 || !ended.errors.contains("drained"), "\(ended)")
            client.signal(SIGKILL)
            _ = await client.result()
        }

        /// The configuration is a pipe, and its end does not come.
        @Test func stopDoesNotWaitForAReload() async throws {
            let layover = try await RunningLayover.start()
            let file = layover.folder.file("config.json").path
            try FileManager.default.removeItem(atPath: file)
            try #require(mkfifo(file, 0o600) == 0)
            layover.process.signal(SIGHUP)
            // A pipe can be opened in this way only while it is read (fifo(7)).
            let pipe = try await firstValue("the reload reads the configuration") { () -> CInt? in
                let pipe = open(file, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                return pipe < 0 ? nil : pipe
            }
            defer { close(pipe) }
            let ended = await layover.stop()
            #expect(ended.status == 0, "\(ended)")
        }

        @Test func portInUseIsReportedInOneLineWithExitCodeOne() async throws {
            let taken = try ReservedPort(listening: true)
            let folder = try TemporaryFolder()
            let file = try folder.write("{}", to: "config.json")
            let result = try await Command(
                RunningLayover.binary,
                ["run", "--config", file, "--listen", "127.0.0.1:\(taken.number)", "--admin", "127.0.0.1:0"]
            ).run(within: .seconds(20))

            #expect(result.status == 1, "\(result)")
            let lines = result.errors.split(separator: "\n").filter { $0.contains(String(taken.number)) }
            #expect(lines.count == 1, "\(result)")
        }

        /// A file that is mounted by itself can be written and cannot be replaced. Whoever waits for it must not wait for ever.
        @Test(arguments: [false, true])
        func fileOfPortsThatIsMountedByItselfIsWrittenOrEndsTheProcess(isReadOnly: Bool) async throws {
            let folder = try TemporaryFolder()
            let config = try folder.write(
                #"{"proxy":{"listen":"127.0.0.1:0"},"admin":{"listen":"127.0.0.1:0"}}"#, to: "config.json")
            let ports = try folder.write("", to: "ports")
            let script = """
                mount --bind "$1" "$1" && { [ "$2" = false ] || mount -o remount,bind,ro "$1"; } || exit 77
                "$0" run --config "$3" --port-file "$1" & pid=$!
                while kill -0 $pid 2>/dev/null && [ ! -s "$1" ]; do sleep 0.05; done
                kill $pid 2>/dev/null; wait $pid
                """
            let result = try await Command(
                "/usr/bin/unshare", ["--mount", "sh", "-c", script, RunningLayover.binary, ports, "\(isReadOnly)", config]
            ).with(["STATE_DIRECTORY": folder.url.path, "RUNTIME_DIRECTORY": folder.url.path]).run(within: .seconds(20))
            if result.status == 77 || result.errors.contains("unshare failed") { return print("SKIPPED: files cannot be mounted here") }
            let text = try String(contentsOfFile: ports, encoding: .utf8)
            #expect(result.status == (isReadOnly ? 1 : 0), "\(result)")
            #expect(text.hasPrefix(isReadOnly ? "" : #"{"proxy":"#) && text.isEmpty == isReadOnly, "\(text)")
            #expect(result.errors.contains(ports) == isReadOnly, "\(result)")
        }

        @Test(arguments: [
            (#"{"proxy":{"lisen":"127.0.0.1:0"}}"#, "proxy.lisen: "), (#"{"limits":{"entries":"many"}}"#, "limits.entries: "),
            (#"{"timeouts":{"connect":"10 parsecs"}}"#, "timeouts.connect: "),
            (#"{"routes":{"a":{"methods":["get"]}}}"#, "routes.a.methods[0]: \"get\""),
            (#"{"tls":{"caFile":"missing.pem"}}"#, "tls.caFile: the file"),
            (#"{"tls":{"caFile":"config.json"}}"#, "tls.caFile: the file"),
            (#"{"routes":{"a":{"host":"a.example"},"b":{"host":"a.example"}}}"#, "routes.b: matches the same requests as routes.a"),
        ])
        func checkAndStartRefuseTheSameWithTheSameSentence(text: String, sentence: String) async throws {
            let folder = try TemporaryFolder()
            let file = try folder.write(text, to: "config.json")
            let ports = folder.file("ports").path
            let check = try await Command(RunningLayover.binary, ["check-config", "--config", file]).run(within: .seconds(20))
            let run = try await Command(
                RunningLayover.binary,
                ["run", "--config", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--port-file", ports]
            ).run(within: .seconds(20))
            #expect(!FileManager.default.fileExists(atPath: ports))
            #expect(check.status == 1 && run.status == 1, "\(check) \(run)")
            #expect(check.errors == run.errors)
            #expect(check.errors.hasPrefix("error: \(file): \(sentence)"), "\(check)")
            #expect(check.errors.hasSuffix(".\n") && check.errors.split(separator: "\n").count == 1, "\(check)")
        }

        @Test func ignoredConfigurationInTheCurrentFolderIsReported() async throws {
            let folder = try TemporaryFolder()
            let file = try folder.write("{}", to: "config.json")
            var command = Command(RunningLayover.binary, ["check-config"])
            command.folder = folder.url
            let ignored = try await command.run()
            #expect(
                ignored.errors == "warning: config.json in the current folder is not read; name it with --config config.json.\n")
            command.arguments += ["--config", file]
            #expect(try await command.run().errors == "")
        }

        @Test func unixSocketIsNotPrintedAsAProxyVariable() async throws {
            let folder = try TemporaryFolder()
            let file = try folder.write("{}", to: "config.json")
            let socket = folder.file("s").path
            let process = try Command(
                RunningLayover.binary, ["run", "--config", file, "--listen", "unix:\(socket)", "--admin", "127.0.0.1:0"]
            ).start(in: folder)
            let printed = try await FolderWatch(folder.url).first("where it listens", within: .seconds(30)) {
                process.hasEnded || process.output.contains("socket;") || process.output.contains("http_proxy") ? process.output : nil
            }
            #expect(printed.contains("proxy  unix:\(socket)"), "\(printed) \(process.errors)")
            #expect(!printed.contains("http_proxy"), "\(printed)")
            process.signal(SIGTERM)
            #expect(await process.result().status == 0)
        }

        @Test func configurationOfThisProjectIsValid() async throws {
            let file = URL(fileURLWithPath: Fixtures.path("../../config.json")).standardized.path
            let result = try await Command(RunningLayover.binary, ["check-config", "--config", file]).run()
            #expect(result.status == 0, "\(result)")
        }
    }
}
