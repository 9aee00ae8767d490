import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverSystem

/// `layover user`: who may use the proxy. Works alone, on the configuration file.
struct Users: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Add, remove and list the users of the proxy port.",
        subcommands: [AddUser.self, RemoveUser.self, ListUsers.self])
}

/// `layover user add NAME`
struct AddUser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a user to proxy.users in the configuration file.",
        discussion: """
            The password is asked for on a terminal, and is one line of standard input otherwise. The file keeps a yescrypt hash of it. \
            Nothing else in the file changes. A running proxy takes the user with layover reload. \
            The exit code is 3 if the name is taken.

            Example: pwgen 20 1 | tee password.txt | layover user add alice
            """)

    @OptionGroup var source: ConfigurationOptions
    @Flag(help: "Give a user that is there this password.") var replace = false
    @Argument(help: "Name of the user.") var name: String

    func run() throws {
        if let complaint = ProxySettings.complaint(aboutUser: name) {
            throw CommandFailure(code: .usage, message: complaint)
        }
        // The file is not locked while a person types.
        guard try UsersFile(source).users[name] == nil || replace else { throw taken }
        let password = try PasswordInput.read()
        let hash: PasswordHash
        do throws(PasswordError) {
            hash = try PasswordHash(ofPassword: password)
        } catch {
            throw CommandFailure(code: .usage, message: error.description)
        }
        let file = try UsersFile(source)
        var users = try file.users
        guard users[name] == nil || replace else { throw taken }
        let isNew = users.updateValue(.text(hash.text), forKey: name) == nil
        try file.write(users)
        StandardOutput.write([
            "\(name) \(isNew ? "was added" : "has a new password") in \(file.name). A running proxy takes it with: layover reload"
        ])
        file.advise()
    }

    private var taken: CommandFailure {
        CommandFailure(
            code: .refused,
            message:
                "\(name) is a user already; --replace gives a new password, layover user remove takes the user away"
        )
    }
}

/// `layover user remove NAME`
struct RemoveUser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a user from proxy.users in the configuration file.",
        discussion: """
            A running proxy refuses the user after layover reload; tunnels that are open stay open. \
            The exit code is 3 if there is no such user.

            Example: layover user remove alice
            """)

    @OptionGroup var source: ConfigurationOptions
    @Argument(help: "Name of the user.") var name: String

    func run() throws {
        let file = try UsersFile(source)
        var users = try file.users
        guard users.removeValue(forKey: name) != nil else {
            throw CommandFailure(code: .refused, message: "there is no user \(name) in \(file.name)")
        }
        try file.write(users)
        StandardOutput.write([
            "\(name) was removed from \(file.name). A running proxy refuses the user after: layover reload"
        ])
        file.advise()
    }
}

/// `layover user list`
struct ListUsers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the users of the proxy port.",
        discussion: """
            Those of the configuration as a whole, also where an environment variable says them.

            Example: layover user list --json
            """)

    @OptionGroup var source: ConfigurationOptions
    @Flag(help: "Print a JSON object on each line.") var json = false

    private struct Document: Encodable {
        var name: String
        var method: String
    }

    func run() throws {
        let users = try source.load().settings.proxy.users.sorted { $0.key < $1.key }
        guard json else { return StandardOutput.write(users.map { Terminal.safe($0.key) }) }
        for (name, hash) in users {
            StandardOutput.write(try Terminal.json(Document(name: name, method: hash.method.rawValue)))
        }
    }
}
