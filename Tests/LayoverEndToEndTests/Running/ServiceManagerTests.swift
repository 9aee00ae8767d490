import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Messages to a service manager (systemd), and sockets from it. The manager is played by a few lines of Python,
    /// with the same system calls.
    @Suite struct ServiceManagerTests {
        /// Takes datagrams on the socket in its argument and prints each as a line.
        private static let receiver = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind(sys.argv[1].replace("@", "\\0", 1))
            print("ready", flush=True)
            while True: print(s.recv(65536).decode().replace("\\n", "|"), flush=True)
            """

        /// Listens on a port, gives the socket as descriptor 3, and becomes the program in its arguments.
        private static let activator = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX if sys.argv[1].startswith("/") else socket.AF_INET)
            s.bind(sys.argv[1] if sys.argv[1].startswith("/") else (sys.argv[1], int(sys.argv[2])))
            if sys.argv[3] == "listen": s.listen()
            if sys.argv[1].startswith("/"): open(sys.argv[1] + ".listens", "w").close()
            os.dup2(s.fileno(), 4 if sys.argv[3] == "listen" else 3)
            if sys.argv[3] == "listen": os.dup2(os.open("/dev/null", os.O_RDONLY), 3); os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2", LISTEN_FDNAMES="other:proxy")
            if sys.argv[3] != "listen": os.environ.update(LISTEN_FDS="1", LISTEN_FDNAMES="proxy")
            os.execvp(sys.argv[4], sys.argv[4:])
            """

        /// Everything that the receiver has got, once that passes a test.
        private func lines(
            _ receiver: RunningProcess, in folder: TemporaryFolder, _ what: String, _ test: @escaping @Sendable ([String]) -> Bool
        ) async throws -> [String] {
            try await FolderWatch(folder.url).first(what, within: .seconds(30)) {
                let lines = receiver.output.split(separator: "\n").map(String.init)
                return test(lines) ? lines : nil
            }
        }

        @Test(arguments: ["path", "abstract"])
        func managerIsToldOfReadinessStatusLifeReloadAndStop(kind: String) async throws {
            let folder = try TemporaryFolder()
            let name = kind == "path" ? folder.file("notify").path : "@layover-test-\(UUID().uuidString)"
            let receiver = try Command("python3", ["-c", Self.receiver, name]).start(in: folder)
            _ = try await lines(receiver, in: folder, "the receiver") { $0.contains("ready") }
            let closed = try ReservedPort()
            let layover = try await RunningLayover.start(
                RunningLayover.noTimedRetries, environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000"])
            _ = try await lines(receiver, in: folder, "readiness") {
                $0.contains("READY=1") && $0.contains { $0.contains("STATUS=nothing waits, ") }
            }
            let curl = try layover.curl("http://127.0.0.1:\(closed.number)/").start()
            _ = try await lines(receiver, in: folder, "the status") { $0.contains { $0.contains("STATUS=1 waiting") } }
            // Signs of life come twice in the time after which it counts as dead. They must not fill the queue of a receiver that is late:
            // it has room for ten messages (net.unix.max_dgram_qlen), and others are lost then.
            let before = receiver.output.components(separatedBy: "WATCHDOG=1").count
            _ = try await lines(receiver, in: folder, "signs of life") {
                $0.joined().components(separatedBy: "WATCHDOG=1").count > before + 3
            }
            _ = try await layover.call("PUT", "/v1/reachability", json: #"{"mode":"offline"}"#)
            _ = try await lines(receiver, in: folder, "offline") { $0.contains { $0.contains(", offline since ") } }
            layover.process.signal(SIGHUP)
            let reloaded = try await lines(receiver, in: folder, "the reload") {
                $0.contains { $0.hasPrefix("RELOADING=1|MONOTONIC_USEC=") } && $0.last != nil
            }
            #expect(reloaded.count { $0 == "READY=1" } >= 1)
            _ = try await lines(receiver, in: folder, "the end of the reload") { $0.count { $0 == "READY=1" } == 2 }
            layover.process.signal(SIGTERM)
            _ = try await lines(receiver, in: folder, "the stop") { $0.contains { $0.hasPrefix("STOPPING=1") } }
            curl.signal(SIGKILL)
            receiver.signal(SIGKILL)
        }

        @Test func socketThatAManagerListensOnIsTheProxyPort() async throws {
            let folder = try TemporaryFolder()
            try folder.write("{}", to: "config.json")
            let origin = try await RunningOrigin.start(in: folder)
            // The same port of 127.0.0.1 stays closed as long as it is reserved.
            let port = try ReservedPort()
            let layover = try await RunningLayover.start(
                in: folder, under: ["python3", "-c", Self.activator, "127.0.0.2", "\(port.number)", "listen"])
            // The address of the socket counts, whatever --listen is.
            let proxy = "http://127.0.0.2:\(layover.proxyPort)"
            let response = try await Command("curl", ["--silent", "--proxy", proxy, "http://127.0.0.1:\(origin.port)/"]).run()
            #expect(response.status == 0)
            let elsewhere = try await layover.curl("http://127.0.0.1:\(origin.port)/").run()
            #expect(elsewhere.status == 5 || elsewhere.status == 7, "nothing listens there")
            try await layover.process.prints(proxy)
            withExtendedLifetime(port) {}
        }

        /// The rules for an address that other machines reach are those of the socket, whatever `proxy.listen` says.
        @Test func reloadKeepsToTheRulesOfTheSocket() async throws {
            let folder = try TemporaryFolder()
            let users = #"{"proxy": {"users": {"me": "$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."}}}"#
            try folder.write(users, to: "config.json")
            let layover = try await RunningLayover.start(in: folder, under: ["python3", "-c", Self.activator, "0.0.0.0", "0", "listen"])
            try folder.write("{}", to: "config.json")
            let refused = try await layover.command("reload").run()
            #expect(refused.status != 0 && (refused.output + refused.errors).contains("proxy.users must have a user"), "\(refused)")
            let route = #"{"upstream": "https://api.example.com", "setFields": {"Authorization": "Bearer secret"}}"#
            try folder.write(users.dropLast() + #", "routes": {"r": \#(route)}}"#, to: "config.json")
            let unkeyed = try await layover.command("reload").run()
            #expect(unkeyed.status != 0 && (unkeyed.output + unkeyed.errors).contains("routes.r.key"), "\(unkeyed)")
            #expect(try await layover.call("GET", "/v1/config").text.contains("socket of the service manager"))
            let response = try await layover.exchange("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
            #expect(response.status == 407)
        }

        @Test func unixSocketThatAManagerListensOnServes() async throws {
            let folder = try TemporaryFolder()
            try folder.write("{}", to: "config.json")
            let origin = try await RunningOrigin.start(in: folder)
            let path = folder.file("p").path
            let process = try RunningLayover.launch(in: folder, under: ["python3", "-c", Self.activator, path, "0", "listen"])
            // The socket listens before Layover runs: whoever connects waits.
            try await FolderWatch(folder.url).first("the socket listens") {
                FileManager.default.fileExists(atPath: path + ".listens") ? () : nil
            }
            let script = """
                import socket
                s = socket.socket(socket.AF_UNIX)
                s.connect("\(path)")
                s.sendall(b"GET http://127.0.0.1:\(origin.port)/echo?1 HTTP/1.1\\r\\nHost: 127.0.0.1:\(origin.port)\\r\\nConnection: close\\r\\n\\r\\n")
                print(s.recv(65536).decode().splitlines()[0])
                """
            let response = try await Command("python3", ["-c", script]).run()
            #expect(response.output.hasPrefix("HTTP/1.1 200"), "\(response.output) \(process.errors)")
            process.signal(SIGKILL)
        }

        @Test(arguments: [
            (["0.0.0.0", "0", "listen"], "is reachable from other machines, so proxy.users must have a user"),
            (["127.0.0.1", "0", "bind"], "the socket of the service manager is no stream socket that listens"),
        ])
        func socketThatMustNotBeUsedEndsTheStartWithOneLine(arguments: [String], says: String) async throws {
            let folder = try TemporaryFolder()
            try folder.write("{}", to: "config.json")
            let process = try RunningLayover.launch(in: folder, under: ["python3", "-c", Self.activator] + arguments)
            let ending = await process.result(within: .seconds(30))
            #expect(ending.status == 1)
            #expect(process.errors.contains(says), "\(process.errors)")
        }
    }
}
