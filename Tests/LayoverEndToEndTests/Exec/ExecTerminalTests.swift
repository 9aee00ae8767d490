import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// A command under `layover exec` has the same environment as without it: input, descriptors, signals, terminal.
    @Suite struct ExecSurroundings {
        private let scene: ExecScene

        init() throws { scene = try ExecScene() }

        @Test func standardInputIsTheCommands() async throws {
            let command = scene.exec([], "cat")
            let result = try await Command("sh", ["-c", #"printf 'one two' | "$0" "$@""#, command.executable] + command.arguments)
                .with(command.environment).run()
            #expect(result.status == 0 && result.output == "one two", "\(result)")
        }

        @Test(arguments: [false, true])
        func descriptorsAndSignalsAreThoseOfTheCaller(isShared: Bool) async throws {
            let shared = isShared ? try await Scene() : nil
            let command = shared?.layover.command("exec", "--") ?? scene.exec()
            // Descriptor 7 is the caller's own and stays; SIGUSR1 is ignored as by nohup(1), and SIGPIPE is not. Signals above 32 are
            // the C library's own.
            let script = #"""
                exec 7</dev/null
                facts='ls /proc/self/fd; sed -En "s/^(Sig(Ign|Blk|Cgt)).*(.{8})$/\1 \3/p" /proc/self/status'
                sh -c "$facts"
                echo --
                "$0" "$@" sh -c "$facts"
                """#
            let signals =
                "import os, signal, sys; signal.signal(13, signal.SIG_DFL); signal.signal(10, signal.SIG_IGN); "
                + "os.execvp(sys.argv[1], sys.argv[1:])"
            let words = ["-c", signals, "sh", "-c", script, command.executable] + command.arguments
            let result = try await Command("python3", words).with(command.environment).run()
            let parts = result.output.components(separatedBy: "--\n")
            #expect(result.status == 0 && parts.count == 2 && parts[0] == parts[1] && parts[0].contains("7\n"), "\(result)")
        }

        @Test func signalIsPassedOnOnce() async throws {
            let program = """
                import signal, sys
                count = 0
                def come(*_):
                    global count
                    count += 1
                    if count == 1: signal.setitimer(signal.ITIMER_REAL, 0.2)
                signal.signal(signal.SIGTERM, come)
                signal.signal(signal.SIGALRM, lambda *_: sys.exit(40 + count))
                print("up", flush=True)
                while True: signal.pause()
                """
            let running = try scene.exec([], "python3", "-c", program).start()
            try await running.prints("up")
            running.signal(SIGTERM)
            let result = await running.result()
            #expect(result.status == 41, "\(result)")
            try scene.expectNothingLeft()
        }

        @Test func controlCIsForTheCommandAndTheProxyStays() async throws {
            let origin = try await scene.startOrigin()
            let program = """
                import signal, subprocess, sys
                def come(*_):
                    sys.exit(subprocess.run(["curl", "-sfo", "/dev/null", sys.argv[1]]).returncode + 30)
                signal.signal(signal.SIGINT, come)
                print("up", flush=True)
                signal.pause()
                """
            let command = scene.exec([], "python3", "-c", program, scene.url)
            let result = try await scene.onTerminal(command, steps: #"[{"expect":"up","send":"\u0003"}]"#).run()
            #expect(result.status == 30, "\(result)")
            #expect(origin.records.count == 1)
            let dies = "import signal; signal.signal(2, signal.SIG_DFL); print('up', flush=True); signal.pause()"
            let deadly = scene.exec([], "python3", "-c", dies)
            let killed = try await scene.onTerminal(deadly, steps: #"[{"expect":"up","send":"\u0003"}]"#).run()
            #expect(killed.status == 130, "\(killed)")
            try scene.expectNothingLeft()
        }

        @Test func controlZStopsItAndTheShellContinuesIt() async throws {
            let command = scene.exec([], "python3", "-c", "print('up', flush=True); print('got', input())")
            let words = ([command.executable] + command.arguments).map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(
                separator: " ")
            try scene.folder.write("job() { \(words); }\nPS1='ready> '\n", to: "rc")
            var shell = command
            shell.executable = "bash"
            shell.arguments = ["--rcfile", scene.folder.file("rc").path, "-i"]
            let steps = #"""
                [{"expect":"ready>","send":"job\n"}, {"expect":"up","send":"\u001a"}, {"match":"Stopped.*ready>","send":"jobs\n"},
                 {"match":"Stopped.*ready>","send":"fg\n"}, {"expect":"'exec'","send":"still here\n"}, {"match":"got still here.*ready>","send":"exit 5\n"}]
                """#
            let result = try await scene.onTerminal(shell, steps: steps).run()
            #expect(result.status == 5, "\(result)")
            try scene.expectNothingLeft()
        }

        // MARK: Lines about waiting

        /// A command that ends once the line about the end of its waiting is there. `exec` waits for that line for a moment only, when the
        /// command has ended.
        private static let fetching = ["sh", "-c", #"curl --silent --fail "$0" && read line"#]
        private static let typing = #"[{"expect":"answered after","send":"\n"}]"#
        /// The line about waiting, but for its time: a reporter that is late names a longer one.
        private static let waitingLine = "layover: waiting for 127.0.0.1 (connection refused, "

        @Test func terminalIsToldWhatTheCommandWaitsFor() async throws {
            var command = scene.exec()
            command.arguments += Self.fetching + [scene.url]
            let running = try scene.onTerminal(command, steps: Self.typing).start()
            try await running.prints(Self.waitingLine)
            let origin = try await scene.startOrigin()
            let result = await running.result()
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains(#/layover: waiting for 127\.0\.0\.1 \(connection refused, \d+ s\)…/#), "\(result)")
            #expect(result.output.contains(#/layover: 127\.0\.0\.1 answered after \d+ s/#), "\(result)")
            #expect(result.output.components(separatedBy: "layover:").count == 3, "\(result)")
            #expect(origin.records.count == 1)
        }

        @Test func commandBehindASharedProxyIsToldOfItsOwnWaiting() async throws {
            let scene = try await Scene()
            let place = try ExecScene()
            let before = try scene.layover.curl("--fail", scene.url("/echo?before")).start()
            try await scene.layover.waitForPending { $0.data.count == 1 }
            var command = scene.layover.command("exec", "--")
            command.arguments += Self.fetching + [place.url]
            let running = try place.onTerminal(command, steps: Self.typing).start()
            try await running.prints(Self.waitingLine)
            let origin = try await place.startOrigin()
            let result = await running.result()
            #expect(result.status == 0 && result.output.contains("answered after"), "\(result)")
            #expect(origin.records.count == 1)
            #expect(!before.hasEnded)
        }

        @Test(arguments: [true, false])
        func quietOrWithoutATerminalNothingIsTold(isQuiet: Bool) async throws {
            let words = ["sh", "-c", #"echo "admin=$LAYOVER_ADMIN_URL"; exec curl --silent --fail "$0""#, scene.url]
            var command = scene.exec(isQuiet ? ["--quiet"] : [])
            command.arguments += words
            let running = try (isQuiet ? scene.onTerminal(command) : command).start()
            let admin = try await scene.admin(of: running)
            // Attempts go on, so there are events: it has waited for longer than what is told.
            _ = try await onOwnThread {
                let begun = ContinuousClock.now
                return try admin.waitForPending("it waits", within: .seconds(60)) {
                    $0.data.count == 1 && ContinuousClock.now - begun > .milliseconds(1500)
                }
            }
            let origin = try await scene.startOrigin()
            let result = await running.result()
            #expect(origin.records.count == 1)
            #expect(result.status == 0 && !result.output.contains("layover:") && result.errors.isEmpty, "\(result)")
        }
    }
}
