import Foundation
import LayoverTestSupport

extension DirectProgram {
    static let all = requests + downloads + libraries + tools

    /// Files that the origins serve.
    static func makeFiles(in folder: TemporaryFolder) async throws {
        try Data(DirectBytes.first(3_000_000)).write(to: folder.file("file.bin"))
        try await Command(Fixtures.path("make_wheel.py"), [folder.url.path]).succeed()
        let (bare, work) = (folder.file("git/demo.git").path, folder.file("work").path)
        let script = """
            git init --quiet --bare "$1" && git -C "$1" config http.receivepack true && git init --quiet "$2" && cd "$2" \
            && echo 'it arrived' > note && git add note \
            && git -c user.name=Test -c user.email=test@example.com commit --quiet --message first \
            && git push --quiet "$1" HEAD:refs/heads/main && git -C "$1" symbolic-ref HEAD refs/heads/main
            """
        try await Command("sh", ["-c", script, "sh", bare, work]).succeed()
    }

    private static func curl(_ name: String, _ path: String, _ words: String..., files: [String] = []) -> DirectProgram {
        DirectProgram(
            name: "curl: \(name)",
            command: { place in Command("curl", ["--silent", "--show-error"] + words + [place.base + path]) }, files: files)
    }

    /// As `CurlTests`. Through interception curl speaks HTTP/2, unless it is told otherwise.
    private static let requests: [DirectProgram] = [
        curl("GET", "/echo?a=b%2Fc", "--header", "X-A: 1", "--header", "X-b: 2"),
        curl("POST", "/echo", "--data", "order=1"),
        curl("DELETE", "/echo", "--request", "DELETE"),
        curl("empty POST", "/echo", "--request", "POST", "--data", ""),
        curl("cookies", "/echo", "--cookie", "a=1; b=2"),
        curl("HTTP/1.0", "/echo", "--http1.0"),
        curl("PATCH by HTTP/1.1", "/sink", "--http1.1", "--request", "PATCH", "--data-binary", "@/etc/services"),
        DirectProgram(
            name: "curl: chunked upload", command: { uploading($0, ["--header", "Expect:", "--header", "Transfer-Encoding: chunked"]) }),
        DirectProgram(name: "curl: upload", command: { uploading($0, ["--header", "Expect:"]) }),
        DirectProgram(name: "curl: upload by HTTP/1.1", command: { uploading($0, ["--http1.1"]) }),
        DirectProgram(name: "curl: upload with Expect", command: { uploading($0, ["--http1.1", "--header", "Expect: 100-continue"]) }),
    ]

    /// As `ResumeTests`, `InterceptedBodies` and `BackPressureTests`, without what breaks.
    private static let downloads: [DirectProgram] = [
        curl("HEAD", "/file.bin", "--head", "--output", "/dev/null", "--write-out", "%{http_code} %header{content-length}"),
        curl("long download", "/large/5000000", "--output", "copy", files: ["copy"]),
        curl("file", "/file.bin", "--output", "copy", "--write-out", "%header{content-type}", files: ["copy"]),
        curl("slow reader", "/large/2000000", "--limit-rate", "4M", "--output", "copy", files: ["copy"]),
        curl(
            "range", "/parts/200000", "--range", "140000-", "--output", "copy", "--write-out", "%{http_code} %header{content-range}",
            files: ["copy"]),
        curl("missing file", "/nothing", "--write-out", " %{http_code}"),
        DirectProgram(
            name: "curl: three on one connection",
            command: {
                Command("curl", ["--silent", "--show-error", "--data", "x", $0.base + "/echo?1", $0.base + "/echo?2", $0.base + "/echo?3"])
            }),
        DirectProgram(
            name: "wget",
            command: {
                Command("wget", ["--quiet", "--ca-certificate", $0.authority, "--output-document", "copy", $0.base + "/file.bin"])
            },
            files: ["copy"]),
    ]

    private static func uploading(_ place: Place, _ words: [String]) -> Command {
        let script = #"head -c 3000000 /dev/zero | tr '\0' 'a' > body && curl --silent --show-error --upload-file body "$@""#
        return Command("sh", ["-c", script, "sh"] + words + [place.base + "/sink"])
    }

    /// As `PythonTests` and `NodeTests`.
    private static let libraries: [DirectProgram] = [
        python(
            "urllib",
            """
            import sys, urllib.request
            with urllib.request.urlopen(sys.argv[1] + "/echo", data=b"order=1") as answer:
                print(answer.status, answer.read().decode())
            """),
        python(
            "requests",
            """
            import sys, requests
            session = requests.Session()
            for number in range(3):
                answer = session.post(sys.argv[1] + "/sink", data=bytes(range(256)) * 4096)
                print(answer.status_code, answer.text)
            print(len(session.get(sys.argv[1] + "/file.bin").content))
            """),
        DirectProgram(
            name: "fetch of undici, which tunnels plain http too",
            command: { place in
                let script = """
                    const {setGlobalDispatcher, ProxyAgent, fetch} = require('undici');
                    const [url, proxy] = process.argv.slice(1);
                    if (proxy) setGlobalDispatcher(new ProxyAgent(proxy));
                    fetch(url + '/echo', {method: 'POST', body: 'order=1'})
                      .then(async answer => console.log(answer.status, await answer.text()));
                    """
                return Command("node", ["-e", script, place.base] + (place.proxy.map { [$0] } ?? []))
                    .with(["NODE_PATH": "/usr/share/nodejs"])
            }),
    ]

    private static func python(_ name: String, _ script: String) -> DirectProgram {
        DirectProgram(name: name, command: { Command("/usr/bin/python3", ["-c", script, $0.base]) })
    }

    /// As `GitTests` and `PackageToolTests`.
    private static let tools: [DirectProgram] = [
        DirectProgram(
            name: "git: clone and push",
            command: { place in
                let script = """
                    git clone --quiet "$1/git/demo.git" copy && cd copy \
                    && git -c user.name=Test -c user.email=test@example.com commit --quiet --allow-empty --message second \
                    && git push --quiet origin HEAD:refs/heads/second
                    """
                let date = "2026-01-01T00:00:00Z"
                return Command("sh", ["-c", script, "sh", place.base]).with(["GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date])
            },
            files: ["copy/note"],
            prepare: { files in
                try await Command("git", ["-C", files.file("git/demo.git").path, "update-ref", "-d", "refs/heads/second"]).succeed()
            }),
        DirectProgram(
            name: "pip",
            command: { place in
                Command(
                    "/usr/bin/python3",
                    [
                        "-m", "pip", "install", "--quiet", "--retries", "0", "--no-deps", "--no-cache-dir", "--disable-pip-version-check",
                        "--index-url", place.base + "/simple/", "--target", "installed", "layover-demo",
                    ])
            },
            files: ["installed/layover_demo/__init__.py"]),
    ]
}
