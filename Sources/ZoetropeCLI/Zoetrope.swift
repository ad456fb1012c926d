import ArgumentParser

@main
struct ZoetropeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "zoetrope")
}
