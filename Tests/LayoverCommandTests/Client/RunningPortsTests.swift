import Foundation
import LayoverTestSupport
import Testing

@testable import layover

/// Commands find a running proxy by its `ports.json`.
struct RunningPortsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try PortFile.write(folder.file("ports.json").path, proxy: ProxyPlace(port: 1234, scheme: "http"), admin: .port(5678))
    }

    @Test(arguments: ["RUNTIME_DIRECTORY", "STATE_DIRECTORY"])
    func portsAreFoundInTheFolderOfAService(variable: String) throws {
        let environment = [variable: folder.file("").path]
        #expect(RunningPorts.found(environment: environment, workingFolder: "/nonexistent")?.admin == 5678)
        let silent = try ConnectionOptions.parse([])
        #expect(try silent.client(environment: environment).address.port == 5678)
        let given = try ConnectionOptions.parse(["--admin-url", "http://127.0.0.1:1"])
        #expect(try given.client(environment: environment).address.port == 1)
        #expect(given.foundPorts(environment: environment) == nil)
    }

    @Test func portsAreFoundInTheWorkingFolder() {
        let found = RunningPorts.found(environment: [:], workingFolder: folder.file("").path)
        #expect(found == RunningPorts(proxy: 1234, admin: 5678))
        #expect(found?.proxyURL == "http://127.0.0.1:1234")
    }

    @Test func tokenIsReadBesideThePortsUnlessOneIsGiven() throws {
        let environment = ["RUNTIME_DIRECTORY": folder.url.path]
        #expect(try ConnectionOptions.parse([]).client(environment: environment).token == nil)
        try folder.write("hush\n", to: "admin-token")
        #expect(try ConnectionOptions.parse([]).client(environment: environment).token == "hush")
        #expect(try ConnectionOptions.parse(["--token", "mine"]).client(environment: environment).token == "mine")
        // The token is not sent to another instance.
        let elsewhere = try ConnectionOptions.parse(["--admin-url", "http://127.0.0.1:1"])
        #expect(try elsewhere.client(environment: environment).token == nil)
    }

    @Test(arguments: ["", "{}", #"{"proxy":1,"admin":70000}"#, #"{"proxy":1,"admin":0}"#, "[]"])
    func unreadableFileIsIgnored(text: String) throws {
        try folder.write(text, to: "ports.json")
        #expect(RunningPorts.found(environment: [:], workingFolder: folder.file("").path) == nil)
    }
}
