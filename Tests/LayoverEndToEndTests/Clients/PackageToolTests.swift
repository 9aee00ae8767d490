import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// pip and apt, each against a repository of the test's own.
    @Suite struct PackageTools {
        @Test(arguments: OriginTiming.allCases)
        func pipInstallsFromALocalIndex(timing: OriginTiming) async throws {
            let scene = try await Scene()
            try await Command(Fixtures.path("make_wheel.py"), [scene.root.url.path]).succeed()
            let target = scene.root.file("installed")
            // Without retries of its own, so that what helps is Layover.
            let pip = scene.layover.client(
                "/usr/bin/python3", "-m", "pip", "install", "--quiet", "--isolated", "--retries", "0", "--no-deps",
                "--no-cache-dir", "--disable-pip-version-check", "--proxy", scene.layover.proxyURL,
                "--index-url", scene.url("/simple/"), "--target", target.path, "layover-demo")
            let (result, _) = try await scene.run(pip, origin: timing)

            #expect(result.status == 0, "\(result)")
            #expect(FileManager.default.fileExists(atPath: target.path + "/layover_demo/__init__.py"))
        }

        @Test(arguments: OriginTiming.allCases)
        func aptUpdatesAndDownloads(timing: OriginTiming) async throws {
            let scene = try await Scene()
            try await Command(Fixtures.path("make_apt_repository.sh"), [scene.root.url.path]).succeed()
            let options = try aptOptions(scene)
            let update = scene.layover.client("apt-get", options + ["update"])
            let origin: RunningOrigin
            let result: CommandResult
            switch timing {
            case .already:
                origin = try await scene.startOrigin()
                result = try await update.run()
            case .later:
                let running = try update.start()
                try await scene.layover.waitForPending("apt waits") { !$0.data.isEmpty }
                origin = try await scene.startOrigin()
                result = await running.result()
            }
            // apt-get update ends with 0 even when it could fetch nothing; the errors tell.
            #expect(result.status == 0 && !result.errors.contains("Failed to fetch"), "\(result)")

            var download = scene.layover.client("apt-get", options + ["download", "layover-demo"])
            download.folder = scene.root.url
            let downloaded = try await download.run()
            #expect(downloaded.status == 0, "\(downloaded)")
            #expect(FileManager.default.fileExists(atPath: scene.root.file("layover-demo_1.0_all.deb").path))
            #expect(origin.records.contains { $0.target.hasSuffix("layover-demo_1.0_all.deb") })
        }

        /// Everything apt reads or writes lies in the test's folder; the machine's own lists are not touched.
        private func aptOptions(_ scene: Scene) throws -> [String] {
            try scene.root.write("deb [trusted=yes] \(scene.url("/apt/")) ./\n", to: "sources.list")
            try scene.root.write("", to: "status")
            for folder in ["state/lists/partial", "cache/archives/partial", "empty"] {
                try FileManager.default.createDirectory(
                    at: scene.root.file(folder), withIntermediateDirectories: true)
            }
            return [
                "Acquire::http::Proxy=\(scene.layover.proxyURL)", "Acquire::Retries=0", "APT::Sandbox::User=root",
                "Dir::State=\(scene.root.file("state").path)", "Dir::Cache=\(scene.root.file("cache").path)",
                "Dir::State::status=\(scene.root.file("status").path)",
                "Dir::Etc::sourcelist=\(scene.root.file("sources.list").path)",
                "Dir::Etc::sourceparts=\(scene.root.file("empty").path)",
                "Dir::Etc::preferencesparts=\(scene.root.file("empty").path)",
            ].flatMap { ["-o", $0] }
        }
    }
}
