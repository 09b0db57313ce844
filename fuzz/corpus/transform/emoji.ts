const 变量 = "😀👩‍👩‍👧"; let é: string = `${变量}`
throw é