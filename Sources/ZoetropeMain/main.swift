import ZoetropeCLI

ZoetropeTool.main()
